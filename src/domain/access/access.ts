/** Roles of people, weakest first (interface, section 5: claim `role`). */
export const ROLES = ['viewer', 'member', 'admin', 'owner'] as const;
export type Role = (typeof ROLES)[number];

/** By what an agent comes in: a token, which lives for an hour or so, or a key. */
export type AgentCredential = 'token' | 'key';

/** Kinds of callers by credential; `anonymous` is a caller without one. */
export type PrincipalKind = 'root' | Role | 'agent' | 'internal' | 'anonymous';

/**
 * How far a permission reaches: everything in the caller's organizations, or what is the caller's own. What a
 * principal's row does not name is denied.
 */
export type Reach = 'all' | 'own';

export interface Permission {
  readonly doc: string;
  readonly who: Partial<Record<PrincipalKind, Reach>>;
  /** Deciding is left to the gate's commit: the guard checks the token only, and the facts of the commit judge the rest. */
  readonly hot?: true;
  /** The route also takes an agent's token that has just expired, within AGENT_REFRESH_WINDOW. */
  readonly late?: true;
  /** Agents call the route by this credential alone, and are told `otherwise` when they come by the other one. */
  readonly onlyBy?: { readonly credential: AgentCredential; readonly otherwise: string };
  /** The route changes something although it is a GET: calls with a session must come from a page of this service. */
  readonly changes?: true;
}

const people = { owner: 'own', admin: 'own', member: 'own', viewer: 'own' } as const;
const everyone = { root: 'all', owner: 'all', admin: 'all', member: 'all', viewer: 'all' } as const;
const administrators = { root: 'all', owner: 'all', admin: 'all' } as const;
const assigners = { root: 'all', owner: 'all', admin: 'all', member: 'all' } as const;
const platform = { root: 'all', internal: 'all' } as const;
const anyone = { ...everyone, agent: 'all', internal: 'all', anonymous: 'all' } as const;

/**
 * Who may call what. Every route names one of these keys; a route without one stops the start. The table is the
 * whole truth: guards read it, `docs/permissions.md` is generated from it, and the tests walk it.
 */
export const ACCESS = {
  public: { doc: 'health, documentation, and what checks its own credential', who: anyone },
  'catalogue.read': { doc: 'read the capability catalogue', who: { ...everyone, agent: 'all' } },
  'agents.read': { doc: 'read agents', who: { ...everyone, agent: 'own' } },
  'agents.write': { doc: 'register, change, deactivate and remove agents', who: administrators },
  'agents.transfer': { doc: 'move an agent to another organization', who: { root: 'all', owner: 'all' } },
  'agents.issue-token': {
    doc: 'issue a token, a setup token or a key for an agent, delete a key, or end all of its tokens and keys', who: administrators,
  },
  'agents.refresh-token': {
    doc: 'refresh a token with itself', who: { agent: 'own' }, late: true,
    onlyBy: { credential: 'token', otherwise: 'An agent key needs no refreshing. For a token: POST /api/v1/agents/token.' },
  },
  'agents.exchange-key': {
    doc: 'exchange an agent key for a token', who: { agent: 'own' },
    onlyBy: { credential: 'key', otherwise: 'Send the agent key as Bearer. A token is renewed by POST /api/v1/agents/:id/token/refresh.' },
  },
  'grants.read': { doc: 'read grants', who: { ...everyone, agent: 'own' } },
  'grants.write': { doc: 'grant, configure and revoke capabilities', who: administrators },
  'capabilities.write': { doc: 'define capabilities of the organization', who: administrators },
  'secrets.read': { doc: 'read the names of secrets, and what they are for; nobody reads a value', who: administrators },
  'secrets.write': { doc: 'set and remove secrets for connectors', who: administrators },
  'gate.execute': {
    doc: 'execute through the gate (owners and admins: dry runs alone)', who: { ...administrators, agent: 'own' }, hot: true,
  },
  'llm.invoke': {
    doc: 'ask language models, and scan texts (agents: holding `llm:invoke`)', who: { root: 'all', agent: 'own' }, hot: true,
  },
  'llm.usage': { doc: 'read what language models were used', who: { ...administrators, agent: 'own' } },
  'node.work': { doc: 'send heartbeats, and take, begin and answer work, as the node of an agent', who: { agent: 'own' } },
  'executions.read': { doc: 'read executions', who: { ...everyone, agent: 'own' } },
  'executions.cancel': { doc: 'cancel a pending execution', who: { ...administrators, agent: 'own' } },
  'executions.report': { doc: 'report what came of a receipt-only execution', who: { root: 'all', agent: 'own' } },
  'executions.settle': { doc: 'record what a person found out about an indeterminate execution', who: administrators },
  'hitl.create': { doc: 'create a HITL request', who: { root: 'all', agent: 'own' } },
  'hitl.read': { doc: 'read HITL requests', who: { ...everyone, agent: 'own' } },
  'hitl.decide': { doc: 'approve or reject a HITL request', who: { ...administrators, member: 'own' } },
  'hitl.escalate': { doc: 'hand a HITL request on to the next level', who: { ...administrators, member: 'own' } },
  'hitl.cancel': { doc: 'cancel a HITL request', who: { ...administrators, agent: 'own' } },
  'hitl.timeout': { doc: 'trigger timeouts', who: administrators, changes: true },
  'hitl.stats': { doc: 'read approval statistics', who: everyone },
  'routing.resolve': { doc: 'find the agent for a task (agents: for what they hold)', who: { ...assigners, agent: 'own' } },
  'routing.read': { doc: 'read the routing log', who: everyone },
  'routing.delegate': { doc: 'give a task to an agent (agents: what they may do themselves)', who: { ...assigners, agent: 'all' } },
  'tasks.read': { doc: 'read tasks', who: { ...assigners, agent: 'own' } },
  'tasks.cancel': { doc: 'cancel a task that nobody has begun', who: { ...assigners, agent: 'own' } },
  'organizations.read': { doc: 'read organizations', who: everyone },
  'organizations.create': { doc: 'make an organization', who: { root: 'all', owner: 'all' } },
  'organizations.write': { doc: "change an organization's name and settings (separation of duties: owners)", who: administrators },
  'users.read': { doc: 'read people', who: everyone },
  'users.read-self': { doc: 'read who one is', who: people },
  'users.write': { doc: 'make, change and close accounts, of no role above the own', who: administrators },
  'invitations.read': { doc: 'read invitations', who: administrators },
  'invitations.write': { doc: 'invite people, to no role above the own, and void invitations', who: administrators },
  'caller.read-self': { doc: 'read who the credential names', who: { root: 'all', ...people, agent: 'own', internal: 'all' } },
  'sign-in.read-self': { doc: 'read how one signs in, and where one is signed in', who: people },
  'sign-in.write-self': { doc: 'sign out, end own sessions, and change how one signs in', who: people },
  'keys.create': { doc: 'make a personal key', who: { root: 'all', ...people } },
  'keys.manage': {
    doc: 'list and revoke personal keys, of no role above the own',
    who: { ...administrators, member: 'own', viewer: 'own' },
  },
  'teams.read': { doc: 'read teams', who: everyone },
  'teams.write': { doc: 'make, change and delete teams, and say who belongs to them', who: administrators },
  'stops.read': { doc: 'read stops', who: administrators },
  'stops.write': { doc: 'stop and resume (everything: root)', who: administrators },
  'audit.read': { doc: 'query the audit log', who: { ...administrators, member: 'own' } },
  'audit.verify': { doc: 'verify the audit log', who: administrators },
  'audit.proof': { doc: "have an entry's position in the signed trees proven", who: { ...administrators, member: 'own' } },
  'audit.export': { doc: 'export the audit log', who: administrators },
  'audit.erase': { doc: 'ask for, confirm and follow the erasure of texts', who: administrators },
  'privacy.export': { doc: "export a person's data", who: { ...administrators, member: 'own', viewer: 'own' } },
  'privacy.erase': { doc: "erase a person's data", who: administrators },
  'channels.read': { doc: 'read notification channels and deliveries', who: administrators },
  'channels.write': { doc: 'set up notification channels, try them, and retry deliveries', who: administrators },
  'inbox.read-self': { doc: 'read own notifications, and mark them as read', who: people },
  'chat-accounts.manage-self': { doc: 'link, list and remove own chat accounts', who: people },
  'tenants.read': { doc: 'read tenants and their usage', who: platform },
  'tenants.write': { doc: 'make, change and delete tenants, and set what they have subscribed to', who: platform },
  'tenants.verify': { doc: "verify a token of the identity provider", who: platform },
} as const satisfies Record<string, Permission>;

export type AccessKey = keyof typeof ACCESS;

/** How far this kind of principal reaches under a key, or `denied`. */
export function reachOf(key: AccessKey, kind: PrincipalKind): Reach | 'denied' {
  const who: Partial<Record<PrincipalKind, Reach>> = ACCESS[key].who;
  return who[kind] ?? 'denied';
}
