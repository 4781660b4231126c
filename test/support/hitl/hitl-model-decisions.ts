import {
  type Answer, askedAnew, type Asks, isOpen, type Model, type ModelQuorum, type ModelRequest, OK, type Principal, reach, refused,
} from './hitl-model.js';
import { cancelled, end, raise, timeOut } from './hitl-model-ends.js';

// What people's commands answer and leave behind: the second opinion on decisions.

export type Verb = 'approve' | 'reject' | 'escalate' | 'cancel' | 'timeout';

export interface DecisionResult {
  readonly verb: Verb;
  /** One of many that are decided at once. */
  readonly inBatch?: true;
  readonly who: Principal;
  /** The digest that the caller sends: of the action as it stands, of another one, or none. */
  readonly digest: 'right' | 'stale' | 'none';
  readonly breakGlass?: 'with a reason' | 'without';
  /** Approve what is sent along instead: as harmless as can be, or what a condition sends to an admin. */
  readonly edit?: 'harmless' | 'danger';
  /** Hand it to this person. */
  readonly to?: Principal;
}

/** What a command answers; it changes the model as it must change the server. */
export function decide(model: Model, request: ModelRequest, attempt: DecisionResult): Answer {
  const agent = model.agents[request.agent]!;
  const barred = barredByTable(model, request, attempt);
  if (barred) return barred;
  if (isOpen(request) && agent.stopped && attempt.verb !== 'cancel') return refused(403, 'STOPPED');
  if (!isOpen(request)) return refused(409, request.over && attempt.verb !== 'timeout' ? 'HITL_EXPIRED' : 'HITL_ALREADY_DECIDED');
  if (attempt.verb === 'timeout') return timeOut(model, request, 'manual', attempt.who);
  if (request.over) return refused(409, 'HITL_EXPIRED');
  if (attempt.verb === 'escalate' && request.level === 2) return refused(409, 'ESCALATION_LIMIT');
  // Who withdraws the question means it in any version.
  if (attempt.digest === 'stale' || (attempt.digest === 'none' && request.version > 1 && attempt.verb !== 'cancel')) {
    return refused(409, 'HITL_DIGEST_MISMATCH');
  }
  if (attempt.inBatch && attempt.digest === 'none') return refused(409, 'HITL_DIGEST_MISMATCH');
  if (attempt.inBatch && attempt.verb === 'approve' && request.level === 2) return refused(403, 'NOT_ELIGIBLE');
  if (attempt.verb === 'cancel') {
    end(request, 'cancelled', 'cancelled', 'human', attempt.who, 'cancelled');
    return OK;
  }
  const level = reach(attempt.who);
  if (level === undefined || level < request.level) return refused(403, 'NOT_ELIGIBLE');
  if (attempt.verb === 'escalate') return handOn(request, attempt);
  // What an admin has to look at by now no batch approves.
  if (attempt.verb === 'approve') return approve(model, request, attempt, attempt.inBatch ? Math.min(level, 1) : level);
  end(request, 'rejected', 'rejected', 'human', attempt.who, 'rejected');
  return OK;
}

/** Contract, section 2, the table: who may send the command at all, and whose request it is. */
function barredByTable(model: Model, { agent }: ModelRequest, { verb, who }: DecisionResult): Answer | undefined {
  const self = who === 'agent' ? agent : who === 'otherAgent' ? 1 - agent : undefined;
  if (self !== undefined) {
    if (!model.agents[self]!.active) return refused(403, 'AGENT_INACTIVE');
    if (verb !== 'cancel') return refused(403, 'FORBIDDEN');
    return who === 'agent' ? undefined : refused(404, 'NOT_FOUND');
  }
  if (who === 'viewer') return refused(403, 'FORBIDDEN');
  const isMember = who === 'lead' || who === 'teammate' || who === 'agentOwner' || who === 'stranger';
  if (isMember && (verb === 'cancel' || verb === 'timeout')) return refused(403, 'FORBIDDEN');
  return who === 'foreignAdmin' ? refused(404, 'NOT_FOUND') : undefined;
}

function approve(model: Model, request: ModelRequest, attempt: DecisionResult, level: number): Answer {
  const agent = model.agents[request.agent]!;
  const wanted = attempt.edit === undefined ? request : { ...request, danger: attempt.edit === 'danger' };
  const asks = askedAnew(agent, wanted);
  const quorum = stricter(request.quorum, agent.grants.get(request.capability)!.quorum);
  if (attempt.edit === undefined) return bar(model, request, attempt) ?? approveAsItIs(model, request, attempt, level, asks, quorum);
  if (asks === 'nothing') return cancelled(request);
  if (asks === 'block') return refused(403, 'CAPABILITY_BLOCKED');
  const decides = request.mode === 'propose' && asks !== 'escalate' && quorum === undefined && !isStrict(model, request);
  const barred = decides ? bar(model, request, attempt) : undefined;
  if (barred) return barred;
  request.danger = wanted.danger;
  request.version += 1;
  request.votes = [];
  request.entries.push({ event: 'hitl.edited', actor: attempt.who });
  if (decides) {
    end(request, 'approved', 'approved', 'human', attempt.who);
  } else if (asks === 'escalate' && request.mode === 'propose') {
    request.mode = 'escalate';
    if (!request.initiators.includes(attempt.who)) request.initiators.push(attempt.who);
    raise(request, 2, 'system');
    return OK;
  }
  if (!request.initiators.includes(attempt.who)) request.initiators.push(attempt.who);
  return OK;
}

/** Of then and now the stricter one holds. */
const isStrict = (model: Model, request: ModelRequest): boolean => model.strict || request.strict;

/** Whoever is behind an action; where separation of duties is strict, the agent's owner too. */
function isBehind(model: Model, request: ModelRequest, who: Principal): boolean {
  if (who === 'root') return false;
  return request.initiators.includes(who) || (who === 'agentOwner' && isStrict(model, request));
}

/** They may not approve; an owner may break the glass, with a reason. */
function bar(model: Model, request: ModelRequest, { who, breakGlass }: DecisionResult): Answer | undefined {
  if (!isBehind(model, request, who)) return undefined;
  if (who !== 'owner' || breakGlass === undefined) return refused(403, 'SELF_APPROVAL');
  return breakGlass === 'without' ? refused(422, 'REASON_REQUIRED') : undefined;
}

function approveAsItIs(model: Model, request: ModelRequest, { who, breakGlass }: DecisionResult, level: number, asks: Asks,
  quorum?: ModelQuorum): Answer {
  if (asks === 'nothing' || asks === 'block') return cancelled(request);
  if (asks === 'escalate' && request.mode === 'propose' && level < 2) {
    raise(request, 2, 'system');
    return refused(409, 'NOT_EXECUTABLE');
  }
  const isBroken = isBehind(model, request, who);
  if (quorum !== undefined && !isBroken) {
    // Counted are those who could approve it now, each once.
    const needed = asks === 'escalate' ? 2 : request.level;
    const counted = [...new Set([...request.votes, who])].filter((one) =>
      (reach(one) ?? -1) >= needed && !isBehind(model, request, one));
    const isMet = counted.length >= quorum.approvals && (!quorum.withAdmin || counted.some((one) => reach(one) === 2));
    const mayBreak = breakGlass !== undefined && (who === 'owner' || who === 'root');
    if (!isMet && mayBreak && breakGlass === 'without') return refused(422, 'REASON_REQUIRED');
    if (!isMet && !mayBreak) {
      if (request.votes.includes(who)) return refused(409, 'CONFLICT');
      request.votes.push(who);
      request.entries.push({ event: 'hitl.voted', actor: who });
      return OK;
    }
    if (isMet && !request.votes.includes(who)) request.votes.push(who);
  }
  end(request, 'approved', 'approved', 'human', who);
  return OK;
}

/** What was frozen and what the grant says now: neither is loosened. */
function stricter(one?: ModelQuorum, other?: ModelQuorum): ModelQuorum | undefined {
  if (!one || !other) return one ?? other;
  return { approvals: Math.max(one.approvals, other.approvals), withAdmin: one.withAdmin || other.withAdmin };
}

function handOn(request: ModelRequest, { who, to }: DecisionResult): Answer {
  const next = request.level + 1;
  // Root is nobody's colleague, and whoever may not approve it is no help.
  const mayBe = to === undefined || (to !== 'root' && (reach(to) ?? -1) >= next && !request.initiators.includes(to));
  if (!mayBe) return refused(422, 'TARGET_NOT_ELIGIBLE');
  raise(request, next, who, to);
  return OK;
}

/** Whom the whole call is refused to, whatever is in it. */
export function barredFromBatch(model: Model, who: Principal, agent: number): Answer | undefined {
  const self = who === 'agent' ? agent : who === 'otherAgent' ? 1 - agent : undefined;
  if (self !== undefined && !model.agents[self]!.active) return refused(403, 'AGENT_INACTIVE');
  return self !== undefined || who === 'viewer' ? refused(403, 'FORBIDDEN') : undefined;
}
