import { Injectable } from '@nestjs/common';
import { dueReminder } from '../../../domain/hitl/reminders.js';
import { isOpen } from '../../../domain/hitl/transition.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import type { HitlRequestEntity } from '../requests/hitl-request.entity.js';
import { ApplyTransitionService } from '../requests/apply-transition.service.js';
import type { Outcome } from './time-out.service.js';

const RUNNING_OUT = 'the time to decide was running out';

/** Gives the reminders that are due, and escalates where a reminder asks for it. In the caller's unit of work. */
@Injectable()
export class RemindService {
  constructor(private readonly transitions: ApplyTransitionService) {}

  /** @returns the outcome of each, in their order; undefined where no reminder is due */
  async remindAll(tx: Tx, found: readonly HitlRequestEntity[]): Promise<(Outcome | undefined)[]> {
    const now = await tx.now();
    const due = found.flatMap((request) => {
      const reminder = isOpen(request.status) && request.expiresAt > now && dueReminder(request, request.escalationLevel, now);
      return reminder ? [{ request, reminder }] : [];
    });
    const reminded = await this.transitions.applyAll(
      tx,
      due.map(({ request, reminder: { secondsBefore, escalate: escalates } }) => ({
        request, command: { kind: 'remind', secondsBefore, ...(escalates ? { escalates } : {}) }, actorId: 'system',
      })),
      { now },
    );
    const escalating = reminded.flatMap((one, i) => ('accepted' in one && due[i]!.reminder.escalate ? [one.request] : []));
    await this.transitions.applyAll(
      tx,
      escalating.map((request) => ({
        request, command: { kind: 'escalate', reason: RUNNING_OUT, by: 'system' }, actorId: 'system',
      })),
    );
    const outcomes = new Map(due.map(({ request }, i) => [request.id, reminded[i]]));
    return found.map(({ id }) => outcomes.get(id));
  }
}
