import {
  type Actor, type Answer, askedAnew, type Model, type ModelRequest, type Principal, refused, type TimeoutAction,
} from './hitl-model.js';

// How requests end and move up: the second opinion's half that needs nobody's click.

/**
 * The window's end, or an administrator's trigger. Before time approves, the gate is asked anew, as it is when a person does: what
 * may no longer run is cancelled, what needs an admin by now goes to one.
 */
export function timeOut(model: Model, request: ModelRequest, trigger: 'window' | 'manual', who: Actor): Answer {
  let action = applied(request, trigger);
  // A trigger that comes when the window is over ends it late, too.
  const isLate = request.over || trigger === 'window';
  const agent = model.agents[request.agent]!;
  const asks = askedAnew(agent, request);
  if (action === 'approve' && (asks === 'nothing' || asks === 'block')) {
    cancelled(request);
    request.over = isLate;
    return { status: 200 };
  }
  if (action === 'approve' && asks === 'escalate') {
    action = request.level === 2 ? 'reject' : 'escalate';
    if (action === 'escalate') request.level = 1;
  }
  const grant = agent.grants.get(request.capability)!;
  // The stricter of then and now.
  if (action === 'approve' && (grant.quorum || grant.action !== 'approve')) action = 'reject';
  request.entries.push({ event: 'hitl.timed_out', actor: trigger === 'manual' ? who : 'system' });
  if (action === 'escalate') {
    raise(request, request.level + 1, 'system');
  } else if (action === 'approve') {
    end(request, 'approved', 'approved', 'system', 'system');
  } else {
    end(request, 'timed_out', 'rejected', 'timeout', 'system', 'timed_out');
  }
  if (action !== 'escalate') request.over = isLate;
  return { status: 200, action };
}

/**
 * Reminders come due: the next one, or all that are left, where nobody gave them in time. Of several people hear the last one only,
 * and it moves up if any of them does.
 *
 * @returns whether it moved up
 */
export function remind(request: ModelRequest, due: 'next' | 'all'): boolean {
  const left = [...request.remindersLeft].sort((one, other) => other.minutesBefore - one.minutesBefore);
  const given = due === 'all' ? left : left.slice(0, 1);
  request.remindersLeft = left.slice(given.length);
  request.entries.push({ event: 'hitl.reminded', actor: 'system' });
  const moves = request.level < 2 && given.some(({ escalates }) => escalates);
  if (moves) raise(request, request.level + 1, 'system');
  return moves;
}

/** Time alone approves plain proposals only, as they were asked, and above level 2 there is nobody. */
function applied({ action, mode, quorum, level, version }: ModelRequest, trigger: 'window' | 'manual'): TimeoutAction {
  // What somebody edited nobody else has looked at.
  const plain = mode === 'propose' && quorum === undefined && version === 1;
  if (action === 'approve' && (trigger === 'manual' || !plain)) return 'reject';
  return action === 'escalate' && level === 2 ? 'reject' : action;
}

/** Who stands at a level, besides whom nobody is meant by it. */
const OF_LEVEL: readonly (readonly Principal[])[] = [['teammate', 'lead', 'agentOwner'], ['lead'], ['owner', 'admin']];

export function raise(request: ModelRequest, level: number, actor: Actor, to?: Principal): void {
  request.status = 'escalated';
  request.level = level;
  const there = OF_LEVEL[level]!.filter((person) => !request.initiators.includes(person));
  request.escalatedTo = to ?? (there.length === 1 ? there[0]! : null);
  request.over = false;
  // A new window, with all of its reminders before it.
  request.remindersLeft = request.reminders;
  request.entries.push({ event: 'hitl.escalated', actor });
}

type Ending = NonNullable<ModelRequest['decision']>;

export function end(request: ModelRequest, status: ModelRequest['status'], outcome: Ending['outcome'], by: Ending['by'], actor: Actor,
  reason?: string): void {
  request.status = status;
  request.decision = { outcome, by };
  request.decidedBy = actor;
  request.over = false;
  if (status !== 'timed_out') request.entries.push({ event: `hitl.${status}`, actor });
  if (reason !== undefined) {
    request.execution = 'cancelled';
    request.reason = reason;
  } else {
    request.execution = 'executed';
    request.entries.push({ event: 'execution.started', actor: 'system' }, { event: 'execution.completed', actor: 'system' });
  }
}

/** What may no longer run, when somebody or time would approve it. */
export function cancelled(request: ModelRequest): Answer {
  end(request, 'cancelled', 'cancelled', 'system', 'system', 'cancelled');
  return refused(409, 'NOT_EXECUTABLE');
}
