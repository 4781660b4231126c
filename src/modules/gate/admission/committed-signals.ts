import { Injectable } from '@nestjs/common';
import { OutboxSignal } from '../../../platform/outbox/outbox-signal.js';
import { Waiters } from '../../../platform/wake/waiters.js';
import { type PlannedItem, takesTask } from './commit-statement.js';

/** Says what a batch of the gate has committed to those who wait for it: readers of tasks, and the outbox. */
@Injectable()
export class CommittedSignals {
  constructor(
    private readonly waiters: Waiters,
    private readonly outbox: OutboxSignal,
  ) {}

  send(committed: readonly PlannedItem[]): void {
    for (const { facts, plan } of committed) if (takesTask(plan)) this.waiters.wake(facts.task!.id);
    const effects = new Set(committed.flatMap(({ plan }) => plan.effects.map(({ kind }) => kind)));
    if (effects.size > 0) this.outbox.notify(effects);
  }
}
