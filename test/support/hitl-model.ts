/**
 * A second opinion on requests: what each command must answer and leave behind, written from the interface (section 3, "HITL
 * request status", "Escalation levels") and from the rules of who decides, never from the product's code. It knows no ids and no
 * clocks: people go by what they are, and a window is open or over.
 */

/** Who sends a command. `agent` is the one that asked; `stranger` a member who has nothing to do with it. */
export const PRINCIPALS = [
  'root', 'owner', 'admin', 'lead', 'teammate', 'agentOwner', 'stranger', 'viewer', 'foreignAdmin', 'agent', 'otherAgent',
] as const;
export type Principal = (typeof PRINCIPALS)[number];
export type Actor = Principal | 'system';

export type TimeoutAction = 'reject' | 'approve' | 'escalate' | 'notify_only';
export type GrantMode = 'auto' | 'propose' | 'escalate' | 'block';

export interface ModelQuorum {
  readonly approvals: number;
  /** An admin or an owner has to be among them. */
  readonly withAdmin: boolean;
}

export interface ModelTerms {
  readonly mode: GrantMode;
  readonly action: TimeoutAction;
  readonly quorum?: ModelQuorum;
}

export interface ModelAgent {
  active: boolean;
  stopped: boolean;
  /** By capability; `held` is false once it was revoked. */
  readonly grants: Map<string, ModelTerms & { held: boolean }>;
}

export interface ModelRequest {
  readonly agent: number;
  readonly capability: string;
  danger: boolean;
  mode: 'propose' | 'escalate';
  readonly action: TimeoutAction;
  readonly quorum?: ModelQuorum;
  status: 'pending' | 'escalated' | 'approved' | 'rejected' | 'timed_out' | 'cancelled';
  level: number;
  escalatedTo: Principal | null;
  decision: { readonly outcome: 'approved' | 'rejected' | 'cancelled'; readonly by: 'human' | 'timeout' | 'system' } | null;
  decidedBy: Actor | null;
  /** The window is over, so that a click is late. */
  over: boolean;
  execution: 'pending_hitl' | 'executed' | 'cancelled';
  /** Why the execution was cancelled. */
  reason: string | null;
  readonly initiators: Principal[];
  /** 1 until it is edited; from then on a decision has to say which version it means. */
  version: number;
  votes: Principal[];
  readonly entries: { readonly event: string; readonly actor: Actor }[];
}

export interface Model {
  readonly agents: readonly ModelAgent[];
  readonly requests: ModelRequest[];
  readonly maxPending: number;
}

/** What the caller learns. `action` of a timeout as it was applied. */
export interface Answer {
  readonly status: number;
  readonly code?: string;
  readonly action?: TimeoutAction;
}

export const OK: Answer = { status: 200 };
export const refused = (status: number, code: string): Answer => ({ status, code });
export const isOpen = ({ status }: Pick<ModelRequest, 'status'>): boolean => status === 'pending' || status === 'escalated';
export const openOf = (model: Model, agent: number): number =>
  model.requests.filter((request) => request.agent === agent && isOpen(request)).length;

/** The highest level at which somebody decides, by what they are; none for those who decide nothing. */
export function reach(who: Principal): number | undefined {
  if (who === 'root' || who === 'owner' || who === 'admin') return 2;
  if (who === 'lead') return 1;
  return who === 'teammate' || who === 'agentOwner' ? 0 : undefined;
}

export interface Ask {
  readonly agent: number;
  readonly capability: string;
  /** `gate`: an execution; `adapter`: the request alone. */
  readonly by: 'gate' | 'adapter';
  readonly onBehalfOf?: Principal;
  /** Its input is one of those that a condition of every grant sends to an admin. */
  readonly danger: boolean;
}

export interface Asked extends Answer {
  /** What the gate says of the execution. */
  readonly result?: 'executed' | 'blocked' | 'pending_hitl';
  readonly request?: ModelRequest;
}

/** The gate, and its twin for adapters. */
export function ask(model: Model, { agent: nth, capability, by, onBehalfOf, danger }: Ask): Asked {
  const agent = model.agents[nth]!;
  const grant = agent.grants.get(capability)!;
  if (agent.stopped) return refused(403, 'STOPPED');
  if (!agent.active) return refused(403, 'AGENT_INACTIVE');
  if (!grant.held) return refused(403, 'CAPABILITY_NOT_GRANTED');
  const mode = modeOf(grant, { capability, danger });
  if (mode === 'block') return by === 'gate' ? { status: 200, result: 'blocked' } : refused(403, 'CAPABILITY_BLOCKED');
  if (mode === 'auto' && by === 'gate') return { status: 200, result: 'executed' };
  if (openOf(model, nth) >= model.maxPending) return refused(429, 'TOO_MANY_PENDING');
  const request: ModelRequest = {
    agent: nth,
    capability,
    danger,
    mode: mode === 'escalate' ? 'escalate' : 'propose',
    action: grant.action,
    ...(grant.quorum ? { quorum: grant.quorum } : {}),
    status: mode === 'escalate' ? 'escalated' : 'pending',
    level: mode === 'escalate' || onBehalfOf !== undefined ? 2 : 0,
    escalatedTo: null,
    decision: null,
    decidedBy: null,
    over: false,
    execution: 'pending_hitl',
    reason: null,
    initiators: onBehalfOf === undefined ? [] : [onBehalfOf],
    version: 1,
    votes: [],
    entries: [{ event: 'hitl.created', actor: 'agent' }],
  };
  model.requests.push(request);
  return by === 'gate' ? { status: 202, result: 'pending_hitl', request } : { status: 201, request };
}

/** Interface, section 1: hardcoded is always escalate; a condition only tightens. */
function modeOf({ mode }: ModelTerms, { capability, danger }: Pick<ModelRequest, 'capability' | 'danger'>): GrantMode {
  if (capability === 'phone.call') return 'escalate';
  return danger && mode !== 'block' ? 'escalate' : mode;
}

/** A grant, made or changed. Time may not approve what an admin, or several people, have to. */
export function grant(model: Model, nth: number, capability: string, terms: ModelTerms): Answer {
  const asks = modeOf(terms, { capability, danger: false });
  if (terms.action === 'approve' && (asks === 'escalate' || terms.quorum)) return refused(422, 'TIMEOUT_ACTION_NOT_ALLOWED');
  const { grants } = model.agents[nth]!;
  const status = grants.get(capability)!.held ? 200 : 201;
  grants.set(capability, { ...terms, held: true });
  return { status };
}

export type Verb = 'approve' | 'reject' | 'escalate' | 'cancel' | 'timeout';

export interface Deed {
  readonly verb: Verb;
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
export function decide(model: Model, request: ModelRequest, deed: Deed): Answer {
  const agent = model.agents[request.agent]!;
  const barred = barredByTable(model, request, deed);
  if (barred) return barred;
  if (isOpen(request) && agent.stopped && deed.verb !== 'cancel') return refused(403, 'STOPPED');
  if (!isOpen(request)) return refused(409, request.over && deed.verb !== 'timeout' ? 'HITL_EXPIRED' : 'HITL_ALREADY_DECIDED');
  if (deed.verb === 'timeout') return timeOut(model, request, 'manual', deed.who);
  if (request.over) return refused(409, 'HITL_EXPIRED');
  if (deed.verb === 'escalate' && request.level === 2) return refused(409, 'ESCALATION_LIMIT');
  // Who withdraws the question means it in any version.
  if (deed.digest === 'stale' || (deed.digest === 'none' && request.version > 1 && deed.verb !== 'cancel')) {
    return refused(409, 'HITL_DIGEST_MISMATCH');
  }
  if (deed.verb === 'cancel') {
    end(request, 'cancelled', 'cancelled', 'human', deed.who, 'cancelled');
    return OK;
  }
  const level = reach(deed.who);
  if (level === undefined || level < request.level) return refused(403, 'NOT_ELIGIBLE');
  if (deed.verb === 'escalate') return handOn(request, deed);
  if (deed.verb === 'approve') return approve(agent, request, deed, level);
  end(request, 'rejected', 'rejected', 'human', deed.who, 'rejected');
  return OK;
}

/** Contract, section 2, the table: who may send the command at all, and whose request it is. */
function barredByTable(model: Model, { agent }: ModelRequest, { verb, who }: Deed): Answer | undefined {
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

function approve(agent: ModelAgent, request: ModelRequest, deed: Deed, level: number): Answer {
  const wanted = deed.edit === undefined ? request : { ...request, danger: deed.edit === 'danger' };
  const asks = askedAnew(agent, wanted);
  const quorum = stricter(request.quorum, agent.grants.get(request.capability)!.quorum);
  if (deed.edit === undefined) return bar(request, deed) ?? approveAsItIs(request, deed, level, asks, quorum);
  if (asks === 'nothing') return cancelled(request);
  if (asks === 'block') return refused(403, 'CAPABILITY_BLOCKED');
  const decides = request.mode === 'propose' && asks !== 'escalate' && quorum === undefined;
  const barred = decides ? bar(request, deed) : undefined;
  if (barred) return barred;
  request.danger = wanted.danger;
  request.version += 1;
  request.votes = [];
  request.entries.push({ event: 'hitl.edited', actor: deed.who });
  if (decides) {
    end(request, 'approved', 'approved', 'human', deed.who);
  } else if (asks === 'escalate' && request.mode === 'propose') {
    request.mode = 'escalate';
    if (!request.initiators.includes(deed.who)) request.initiators.push(deed.who);
    raise(request, 2, 'system');
    return OK;
  }
  if (!request.initiators.includes(deed.who)) request.initiators.push(deed.who);
  return OK;
}

/** Whoever is behind an action may not approve it; an owner may break the glass, with a reason. */
function bar({ initiators }: ModelRequest, { who, breakGlass }: Deed): Answer | undefined {
  if (who === 'root' || !initiators.includes(who)) return undefined;
  if (who !== 'owner' || breakGlass === undefined) return refused(403, 'SELF_APPROVAL');
  return breakGlass === 'without' ? refused(422, 'REASON_REQUIRED') : undefined;
}

function approveAsItIs(request: ModelRequest, { who, breakGlass }: Deed, level: number, asks: Asks, quorum?: ModelQuorum): Answer {
  if (asks === 'nothing' || asks === 'block') return cancelled(request);
  if (asks === 'escalate' && request.mode === 'propose' && level < 2) {
    raise(request, 2, 'system');
    return refused(409, 'NOT_EXECUTABLE');
  }
  const isBroken = who === 'owner' && request.initiators.includes(who);
  if (quorum !== undefined && !isBroken) {
    // Counted are those who could approve it now, each once.
    const needed = asks === 'escalate' ? 2 : request.level;
    const counted = [...new Set([...request.votes, who])].filter((one) =>
      (reach(one) ?? -1) >= needed && (one === 'root' || !request.initiators.includes(one)));
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

function cancelled(request: ModelRequest): Answer {
  end(request, 'cancelled', 'cancelled', 'system', 'system', 'cancelled');
  return refused(409, 'NOT_EXECUTABLE');
}

/** What was frozen and what the grant says now: neither is loosened. */
function stricter(one?: ModelQuorum, other?: ModelQuorum): ModelQuorum | undefined {
  if (!one || !other) return one ?? other;
  return { approvals: Math.max(one.approvals, other.approvals), withAdmin: one.withAdmin || other.withAdmin };
}

type Asks = GrantMode | 'nothing';

/** What the gate would say to the call now; `nothing`, where it would refuse it. */
function askedAnew(agent: ModelAgent, request: ModelRequest): Asks {
  const grant = agent.grants.get(request.capability)!;
  return agent.active && grant.held ? modeOf(grant, request) : 'nothing';
}

function handOn(request: ModelRequest, { who, to }: Deed): Answer {
  const next = request.level + 1;
  // Root is nobody's colleague, and whoever may not approve it is no help.
  const mayBe = to === undefined || (to !== 'root' && (reach(to) ?? -1) >= next && !request.initiators.includes(to));
  if (!mayBe) return refused(422, 'TARGET_NOT_ELIGIBLE');
  raise(request, next, who, to);
  return OK;
}

/**
 * The window's end, or an administrator's trigger. Before time approves, the gate is asked anew, as it is when a person does: what
 * may no longer run is cancelled, what needs an admin by now goes to one.
 */
export function timeOut(model: Model, request: ModelRequest, trigger: 'window' | 'manual', who: Actor): Answer {
  let action = applied(request, trigger);
  const agent = model.agents[request.agent]!;
  const asks = askedAnew(agent, request);
  if (action === 'approve' && (asks === 'nothing' || asks === 'block')) {
    cancelled(request);
    return { status: 200 };
  }
  if (action === 'approve' && asks === 'escalate') {
    action = request.level === 2 ? 'reject' : 'escalate';
    if (action === 'escalate') request.level = 1;
  }
  if (action === 'approve' && agent.grants.get(request.capability)!.quorum) action = 'reject';
  request.entries.push({ event: 'hitl.timed_out', actor: trigger === 'manual' ? who : 'system' });
  if (action === 'escalate') {
    raise(request, request.level + 1, 'system');
  } else if (action === 'approve') {
    end(request, 'approved', 'approved', 'system', 'system');
  } else {
    end(request, 'timed_out', 'rejected', 'timeout', 'system', 'timed_out');
    request.over = trigger === 'window';
  }
  return { status: 200, action };
}

/** Time alone approves plain proposals only, and above level 2 there is nobody. */
function applied({ action, mode, quorum, level }: ModelRequest, trigger: 'window' | 'manual'): TimeoutAction {
  const plain = mode === 'propose' && quorum === undefined;
  if (action === 'approve' && (trigger === 'manual' || !plain)) return 'reject';
  return action === 'escalate' && level === 2 ? 'reject' : action;
}

/** Who stands at a level, besides whom nobody is meant by it. */
const OF_LEVEL: readonly (readonly Principal[])[] = [['teammate', 'lead', 'agentOwner'], ['lead'], ['owner', 'admin']];

function raise(request: ModelRequest, level: number, actor: Actor, to?: Principal): void {
  request.status = 'escalated';
  request.level = level;
  const there = OF_LEVEL[level]!.filter((person) => !request.initiators.includes(person));
  request.escalatedTo = to ?? (there.length === 1 ? there[0]! : null);
  request.over = false;
  request.entries.push({ event: 'hitl.escalated', actor });
}

type Ending = NonNullable<ModelRequest['decision']>;

function end(request: ModelRequest, status: ModelRequest['status'], outcome: Ending['outcome'], by: Ending['by'], actor: Actor,
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
