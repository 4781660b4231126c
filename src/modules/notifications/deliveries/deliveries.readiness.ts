import { Injectable } from '@nestjs/common';
import { type ReadinessFact, ReadinessFacts } from '../../../platform/audit/readiness-facts.js';
import { scopeOfEverything } from '../../../platform/auth/access/scope.js';
import { DeliveriesQuery } from './deliveries.query.js';

/** Readiness shows how many deliveries wait: many that do not become fewer mean that a receiver, or a way out, is gone. */
@Injectable()
export class DeliveriesReadiness implements ReadinessFact {
  readonly name = 'deliveries';

  constructor(
    private readonly deliveries: DeliveriesQuery,
    facts: ReadinessFacts,
  ) {
    facts.register(this);
  }

  async look(): Promise<Record<string, number>> {
    return { deliveriesWaiting: await this.deliveries.waiting(scopeOfEverything()) };
  }
}
