import { Injectable } from '@nestjs/common';
import { recordsNothing } from '../../../platform/auth/access/call-context.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { DeliveriesQuery, type DeliveryRow } from './deliveries.query.js';
import { type DeliveryEnvelope, presentDelivery } from './deliveries.dto.js';
import { DeliverySignal } from './delivery-signal.js';
import { DeliveryStore } from './delivery.store.js';

/** Tries deliveries again that were given up. */
@Injectable()
export class RetryDeliveryService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly deliveries: DeliveriesQuery,
    private readonly store: DeliveryStore,
    private readonly signal: DeliverySignal,
  ) {}

  /** @throws Problem NOT_FOUND; CONFLICT for one that was not given up */
  async retry(id: string, { scope }: Caller): Promise<DeliveryEnvelope> {
    recordsNothing();
    const delivery = await this.found(this.deliveries.find(scope, id));
    const isRetried = await this.work.run({ chains: [] }, (tx) => this.store.retry(tx, delivery.organizationId, id));
    if (!isRetried) throw new Problem('CONFLICT', `The delivery is ${delivery.state}; only one that was given up is tried again.`);
    this.signal.notify();
    return { delivery: presentDelivery(await this.found(this.deliveries.find(scope, id))) };
  }

  private async found(delivery: Promise<DeliveryRow | undefined>): Promise<DeliveryRow> {
    const row = await delivery;
    if (!row) throw new Problem('NOT_FOUND', 'There is no such delivery.');
    return row;
  }
}
