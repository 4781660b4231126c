import { Global, Module } from '@nestjs/common';
import { OutboxStore } from './outbox.store.js';
import { OutboxWorker } from './outbox.worker.js';
import { WaitingEffects } from './waiting-effects.store.js';

@Global()
@Module({ providers: [OutboxStore, OutboxWorker, WaitingEffects], exports: [OutboxWorker, WaitingEffects] })
export class OutboxModule {}
