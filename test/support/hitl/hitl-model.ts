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

/** Some minutes before the window's end. */
export interface ModelReminder {
  readonly minutesBefore: number;
  readonly escalates: boolean;
}

export interface ModelTerms {
  readonly mode: GrantMode;
  readonly action: TimeoutAction;
  readonly quorum?: ModelQuorum;
  readonly reminders?: readonly ModelReminder[];
}

export interface ModelAgent {
  active: boolean;
  stopped: boolean;
  /** What the agent held when its token was made. */
  inToken: ReadonlySet<string>;
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
  /** Those of the grant as it was, and of this window those that are still to come. */
  readonly reminders: readonly ModelReminder[];
  remindersLeft: readonly ModelReminder[];
  /** It was asked under strict separation of duties. */
  readonly strict: boolean;
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
  /** The organization's separation of duties, as it is now. */
  strict: boolean;
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
  // At the gate a stop is told first; elsewhere the credential of an agent that was switched off is refused before anything is asked.
  if (by !== 'gate' && !agent.active) return refused(403, 'AGENT_INACTIVE');
  if (!agent.inToken.has(capability)) return refused(403, grant.held ? 'CAPABILITY_NOT_IN_TOKEN' : 'CAPABILITY_NOT_GRANTED');
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
    reminders: grant.reminders ?? [],
    remindersLeft: grant.reminders ?? [],
    strict: model.strict,
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

export type Asks = GrantMode | 'nothing';

/** What the gate would say to the call now; `nothing`, where it would refuse it. */
export function askedAnew(agent: ModelAgent, request: ModelRequest): Asks {
  const grant = agent.grants.get(request.capability)!;
  return agent.active && grant.held ? modeOf(grant, request) : 'nothing';
}
