import { Global, Module } from '@nestjs/common';
import { OutboxStore } from './outbox.store.js';
import { OutboxWorker } from './outbox.worker.js';

@Global()
@Module({ providers: [OutboxStore, OutboxWorker], exports: [OutboxWorker] })
export class OutboxModule {}
