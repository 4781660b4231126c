import { asRoot, type Client, type Reply } from '../http/actors.js';
import { auditOf } from '../log/entries.js';
import { anAgent, type BuiltAgent } from '../builders/agents.js';
import type { Actor, Model, ModelRequest, ModelTerms, Principal } from './hitl-model.js';
import { defineCapability, type SeenRequest } from '../builders/gate.js';
import { anOrganization, aPerson, aTeam, firstOrganization } from '../builders/people.js';
import { made } from '../proofs/races.js';
import type { Receiver } from '../http/receiver.js';
import type { TestServer } from '../servers/server.js';

/** By whom each is done: a receipt, a connector, and one whose mode nobody can change. */
export const CAPABILITIES = ['email.send', 'crm.push', 'phone.call'] as const;
export type Capability = (typeof CAPABILITIES)[number];

/** Everybody but the agents, who are each walk's own. */
export interface TenantGroup {
  readonly server: TestServer;
  readonly organizationId: string;
  readonly people: ReadonlyMap<Principal, { readonly id: string; readonly client: Client; readonly key?: string }>;
  readonly teamId: string;
}

/** One person of each kind, in the first organization unless foreign, and a capability that the receiver serves. */
export async function aTenantGroup(server: TestServer, receiver: Receiver): Promise<TenantGroup> {
  const organizationId = await firstOrganization(server);
  const foreign = await anOrganization(server);
  const made = await Promise.all(([
    ['owner', 'owner', organizationId], ['admin', 'admin', organizationId], ['lead', 'member', organizationId],
    ['teammate', 'member', organizationId], ['agentOwner', 'member', organizationId], ['stranger', 'member', organizationId],
    ['viewer', 'viewer', organizationId], ['foreignAdmin', 'admin', foreign],
  ] as const).map(async ([who, role, home]) => [who, await aPerson(server, role, { organizationId: home })] as const));
  const people = new Map<Principal, { id: string; client: Client; key?: string }>(made);
  people.set('root', { id: 'root', client: asRoot(server) });
  const teamId = await aTeam(server, organizationId, [
    { userId: people.get('lead')!.id, role: 'lead' }, { userId: people.get('teammate')!.id },
  ]);
  await defineCapability(server, 'crm.push', { connector: { type: 'http', method: 'POST', url: receiver.url, body: '{input}' } });
  return { server, organizationId, people, teamId };
}

/** A request as the walk knows it beside the model's: in the same order, at the same place. */
export interface Handle {
  readonly id: string;
  /** Of the version that was shown last. */
  digest: string;
}

/** One walk's own part: its agents, and what it has made. */
export class HitlScenario {
  readonly handles: Handle[] = [];
  readonly stops = new Map<number, string>();

  private constructor(readonly group: TenantGroup, readonly agents: BuiltAgent[]) {}

  /** Two agents that may ask for everything, on these terms. */
  static async open(group: TenantGroup, agents: Model['agents']): Promise<HitlScenario> {
    const ownerId = group.people.get('agentOwner')!.id;
    return new HitlScenario(group, await Promise.all(agents.map(({ grants }) => made(() =>
      CAPABILITIES.reduce((agent, name) => agent.granted(name, grantBody(name, grants.get(name)!)), anAgent(group.server))
        .having({ ownerId, teamId: group.teamId }).create()))));
  }

  get root(): Client {
    return asRoot(this.group.server);
  }

  client(who: Principal, agent: number): Client {
    if (who === 'agent' || who === 'otherAgent') return this.agents[who === 'agent' ? agent : 1 - agent]!.client;
    return this.group.people.get(who)!.client;
  }

  idOf(who: Actor, agent: number): string {
    if (who === 'system') return who;
    if (who === 'agent' || who === 'otherAgent') return this.agents[who === 'agent' ? agent : 1 - agent]!.id;
    return this.group.people.get(who)!.id;
  }

  async seen(nth: number, wait = 0): Promise<SeenRequest> {
    const reply = await this.root.get<SeenRequest>(`/api/v1/hitl/${this.handles[nth]!.id}`, { query: { wait } });
    return reply.expect(200).body;
  }

  /** Where the server's request is not what the model says; undefined where they agree. */
  async difference(request: ModelRequest, nth: number): Promise<string | undefined> {
    // An approved action that a connector serves follows its approval; of all else the answer was the end.
    const seen = await this.seen(nth, request.execution === 'executed' ? 10 : 0);
    this.handles[nth]!.digest = seen.action_digest;
    const { decision } = seen as { decision?: { outcome: string; by: string } | null };
    const [execution] = await this.group.server.sql<{ said: string }>(
      `select trim(x.status || ' ' || coalesce(x.reason, '')) as said from executions x join hitl_requests q on q.execution_id = x.id
       where q.id = $1`, [this.handles[nth]!.id]);
    const recorded = {
      status: seen.status,
      level: seen['escalation_level'],
      escalatedTo: seen['escalated_to'],
      decision: decision ? `${decision.outcome} by ${decision.by}` : null,
      decidedBy: seen.decided_by,
      execution: execution!.said,
      votes: ((seen['votes'] ?? []) as { voter: string }[]).map(({ voter }) => voter).sort(),
    };
    const wanted = {
      status: request.status,
      level: request.level,
      escalatedTo: request.escalatedTo === null ? null : this.idOf(request.escalatedTo, request.agent),
      decision: request.decision ? `${request.decision.outcome} by ${request.decision.by}` : null,
      decidedBy: request.decidedBy === null ? null : this.idOf(request.decidedBy, request.agent),
      execution: `${request.execution} ${request.reason ?? ''}`.trim(),
      votes: request.votes.map((who) => this.idOf(who, request.agent)).sort(),
    };
    return unequal(`request ${nth}`, wanted, recorded);
  }

  /** At the end of a walk: every request's entries in their order, and the count of open ones at the agent's head. */
  async differenceAtEnd(model: Model): Promise<string | undefined> {
    for (const [nth, request] of model.requests.entries()) {
      const found = await this.difference(request, nth);
      if (found !== undefined) return found;
    }
    for (const [nth, { id }] of this.agents.entries()) {
      const entries = await auditOf(this.group.server, id);
      for (const [i, request] of model.requests.entries()) {
        if (request.agent !== nth) continue;
        const recorded = entries.filter(({ metadata }) => metadata['hitlId'] === this.handles[i]!.id).map(({ event, actorId }) =>
          event.startsWith('hitl.') ? `${event} by ${actorId}` : event);
        const found = unequal(`entries of request ${i}`, this.entriesOf(request), recorded) ?? endsOnce(request, i, recorded);
        if (found !== undefined) return found;
      }
      const [head] = await this.group.server.sql<{ open: number }>(
        'select open_requests::integer as open from audit_heads where chain = $1', [id]);
      const open = model.requests.filter(({ agent, status }) => agent === nth && (status === 'pending' || status === 'escalated')).length;
      const found = unequal(`open requests at the head of agent ${nth}`, open, head!.open);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  private entriesOf({ entries, agent }: ModelRequest): string[] {
    return entries.map(({ event, actor }) => (event.startsWith('hitl.') ? `${event} by ${this.idOf(actor, agent)}` : event));
  }

  /** Sets the organization's separation of duties. */
  separate(duties: 'strict' | 'standard'): Promise<Reply> {
    return this.root.patch(`/api/v1/organizations/${this.group.organizationId}`, { settings: { separationOfDuties: duties } });
  }

  /** What a walk leaves must not hold up the next. */
  async close(): Promise<void> {
    (await this.separate('standard')).expect(200);
    for (const id of this.stops.values()) (await this.root.delete(`/api/v1/stops/${id}`)).expect(204);
  }
}

/** A grant as it is asked for, with the condition that all have. */
export function grantBody(capability: string, { mode, action, quorum, reminders = [] }: ModelTerms): Record<string, unknown> {
  const hardcoded = capability === 'phone.call';
  return {
    capability,
    hitlMode: hardcoded ? 'escalate' : mode,
    hitlTimeoutAction: action,
    reminders: reminders.map(({ minutesBefore, escalates }) => ({ secondsBefore: minutesBefore * 60, escalate: escalates })),
    conditions: [{ when: 'input.danger == true', hitlMode: 'escalate' }],
    // Granted again, what is left out stays.
    quorum: quorum ? { approvals: quorum.approvals, groups: quorum.withAdmin ? [{ role: 'admin' }] : [] } : null,
  };
}

const ENDS = ['hitl.approved', 'hitl.rejected', 'hitl.cancelled', 'hitl.timed_out'];

/** Said again of the log alone: one end for what is ended, none for what is open. A timeout may approve or escalate besides. */
function endsOnce({ status }: ModelRequest, nth: number, recorded: readonly string[]): string | undefined {
  const events = recorded.map((line) => line.split(' ')[0]!);
  const ends = events.filter((event, i) =>
    ENDS.includes(event) && !(event === 'hitl.timed_out' && ['hitl.approved', 'hitl.escalated'].includes(events[i + 1] ?? '')));
  const wanted = status === 'pending' || status === 'escalated' ? 0 : 1;
  return ends.length === wanted ? undefined : `request ${nth} is ${status} and its log has the ends ${ends.join(', ') || 'none'}`;
}

export function unequal(what: string, wanted: unknown, recorded: unknown): string | undefined {
  const [one, other] = [JSON.stringify(wanted), JSON.stringify(recorded)];
  return one === other ? undefined : `${what}: the model says ${one}, the server ${other}`;
}

/** A refusal of a decision shows the state that stands, as the request itself then shows it. */
export function wrongState(reply: Reply, { id, status, decided_by: decidedBy, decided_at: decidedAt }: SeenRequest): string | undefined {
  return unequal('the state in the refusal', { id, status, decidedBy, decidedAt }, reply.at('request'));
}
