import { Global, Module } from '@nestjs/common';
import { OutboxStore } from './outbox.store.js';
import { OutboxWorker } from './outbox.worker.js';
import { PendingEffects } from './pending-effects.store.js';

@Global()
@Module({ providers: [OutboxStore, OutboxWorker, PendingEffects], exports: [OutboxWorker, PendingEffects] })
export class OutboxModule {}
