import { definitionDigest } from '../../../src/domain/gate/definition-digest.js';
import { newId } from '../../../src/domain/ids.js';
import type { DeciderRecord, DelegatorRecord } from '../../../src/domain/audit/catalogue/basis.js';
import type { AuditEvent } from '../../../src/domain/audit/catalogue/audit-events.js';
import { blankOf, type Disclosure } from '../../../src/domain/audit/entry/commitments.js';
import { agentChain, isAgentChain, organizationChain, PLATFORM_ORGANIZATION } from '../../../src/domain/audit/entry/chain.js';
import { openEntry } from '../../../src/domain/audit/entry/open-entry.js';
import { Replay, REPLAY_EVENTS } from '../../../src/domain/audit/replay/replay.js';
import { AGENT_EVENTS } from '../../../src/domain/audit/replay/state/agent-chain.js';
import { SharedFacts } from '../../../src/domain/audit/replay/state/shared-facts.js';
import { byChain } from '../../../src/domain/audit/integrity/verify-entries.js';
import { append, type MemoryLog, sourceOf } from './memory-log.js';

export const AGENT = newId('agt');
export const BEGIN = Date.parse('2026-05-01T12:00:00.000Z');
const ORGANIZATION = 'org_a';
const DEFINITION = definitionDigest({});
/** Of these an entry says what it rests on; and of a person's, who that was. */
const DECISIONS = new Set(['execution.started', 'execution.retried', 'execution.blocked', 'hitl.created']);
const STEPS = new Set(['hitl.approved', 'hitl.rejected', 'hitl.voted', 'hitl.edited', 'hitl.escalated']);

interface Known {
  readonly role: string;
  readonly home: string;
}

/** A small log: events of one agent, of its organization and of the platform, each at a second; and what replay says of it. */
export class RecordedLog {
  readonly log: MemoryLog = { entries: [], heads: [], leaves: [] };

  private readonly tenants = new Map<string, string>();
  private readonly people = new Map<string, Known>();
  private readonly leads = new Set<string>();
  private teamId: string | undefined;

  constructor(tenantId?: string) {
    this.made(ORGANIZATION, tenantId);
    this.agent(0, { type: 'agent.registered', metadata: { name: 'a', riskLevel: 'limited' } });
  }

  /** What an event leaves out of what it rests on, and by whom it is, is as the log tells it; undefined stays away. */
  agent(second: number, event: AuditEvent, actorId = 'root'): this {
    const rests = DECISIONS.has(event.type) || STEPS.has(event.type) ? { basis: this.basis(second) } : {};
    const by = STEPS.has(event.type) && actorId !== 'system' ? { decider: this.decider(actorId) } : {};
    const recorded = { ...event, metadata: { ...rests, ...by, ...event.metadata } } as AuditEvent;
    if (event.type === 'agent.updated') this.teamId = event.metadata.teamId ?? this.teamId;
    append(this.log, { ...recorded, chain: agentChain(ORGANIZATION, AGENT), agentId: AGENT }, stampOf(second, actorId));
    return this;
  }

  /** An event of another agent, which gives tasks. */
  giver(id: string, second: number, event: AuditEvent): this {
    append(this.log, { ...event, chain: agentChain(ORGANIZATION, id), agentId: id }, stampOf(second, 'root'));
    return this;
  }

  /** Agents that give tasks, each registered and with a grant of its own, `grt_` and its id. */
  givers(ids: readonly string[], second: number, more: object = {}): this {
    for (const id of ids) {
      this.giver(id, second, { type: 'agent.registered', metadata: { name: 'g', riskLevel: 'limited' } });
      this.giver(id, second, grantedTo(id, more));
    }
    return this;
  }

  /** What a task's entry says of other agents of its chain. */
  behind(...ids: readonly string[]): { taskId: string; delegators: DelegatorRecord[] } {
    return {
      taskId: 'task_1',
      delegators: ids.map((id) => ({ agentId: id, grantId: `grt_${id}`, grantVersion: 1, position: this.seq(id) })),
    };
  }

  organization(second: number, event: AuditEvent, organizationId = ORGANIZATION): this {
    append(this.log, { ...event, chain: organizationChain(organizationId) }, stampOf(second, 'root'));
    if (event.type === 'admin.user_created' || event.type === 'admin.user_updated') {
      const { userId, role = this.people.get(userId)?.role ?? 'viewer' } = event.metadata;
      this.people.set(userId, { role, home: organizationId });
    }
    if (event.type === 'admin.team_changed' && event.metadata.role === 'lead') {
      this.leads.add(`${event.metadata.teamId} ${event.metadata.userId}`);
    }
    return this;
  }

  /** What a decision in that second rests on. */
  basis(second: number, organizationId = ORGANIZATION) {
    const at = new Date(BEGIN + second * 1_000).toISOString();
    return { organization: this.position(organizationId), platform: this.position(PLATFORM_ORGANIZATION), at };
  }

  /** Somebody whom the log does not know says of themselves that they are an admin. */
  decider(userId: string) {
    if (userId === 'root') return { role: 'root', level: 2 } as const;
    const { role, home } = this.people.get(userId) ?? { role: 'admin', home: ORGANIZATION };
    const level = role === 'admin' || role === 'owner' ? 2 : this.leads.has(`${this.teamId} ${userId}`) ? 1 : 0;
    return { role, level, home: { organization: home, position: this.position(home) } } as DeciderRecord;
  }

  private position(organizationId: string): number {
    return this.seq(organizationChain(organizationId).chain);
  }

  private seq(chain: string): number {
    return this.log.heads.find((head) => head.chain === chain)?.seq ?? 0;
  }

  /** An organization is made. @param row its tenant as its row says, where that is another */
  made(organizationId: string, tenantId?: string, row = tenantId): this {
    if (row !== undefined) this.tenants.set(organizationId, row);
    const metadata = { organizationId, name: 'A', ...(tenantId === undefined ? {} : { tenantId }) };
    return this.organization(0, { type: 'admin.organization_created', metadata }, organizationId);
  }

  grant(second: number, more: object = {}): this {
    return this.agent(second, { type: 'capability.granted', capability: 'web.search', metadata: granted(more) } as AuditEvent);
  }

  begin(second: number, more: object = {}, actorId = 'root'): this {
    return this.agent(second, {
      type: 'execution.started', capability: 'web.search',
      metadata: {
        executionId: newId('exec'), grantId: 'grt_1', grantVersion: 1, definition: DEFINITION, input: {}, reasons: [], ...more,
      },
    } as AuditEvent, actorId);
  }

  /**
   * Asks for an approval, and has it given, at once or in another second.
   *
   * @param said what the approval says besides
   */
  approved(second: number, by: readonly string[], more: object = {}, given = second + 1, said: object = {}): this {
    const hitlId = newId('hitl');
    this.agent(second, {
      type: 'hitl.created', capability: 'web.search',
      metadata: {
        hitlId, capability: 'web.search', input: {}, hitlMode: 'propose', digest: 'd', executionId: newId('exec'), grantId: 'grt_1',
        grantVersion: 1, definition: DEFINITION, level: 0, expiresAt: new Date(BEGIN + (second + 60) * 1_000).toISOString(), ...more,
      },
    } as AuditEvent);
    by.forEach((person, i) => {
      const isLast = i === by.length - 1;
      const voters = by.slice(0, -1).map((userId) => ({ userId, ...this.decider(userId) }));
      const [type, how] = isLast
        ? ['hitl.approved', { digest: 'd', ...(voters.length > 0 ? { voters } : {}), ...said }]
        : ['hitl.voted', { approvals: i + 1, needed: by.length }];
      this.agent(given, { type, capability: 'web.search', metadata: { hitlId, ...how } } as AuditEvent, person);
    });
    return this;
  }

  /** The last entry as it reads when one of its values is erased. @param named what its pointer is then */
  erase(pointer: string, named = pointer): this {
    const { entries } = this.log;
    const last = entries.at(-1)!;
    const disclosures = (JSON.parse(last.disclosures) as Disclosure[])
      .map((one) => (one.pointer === pointer ? blankOf(one, named) : one));
    entries[entries.length - 1] = { ...last, disclosures: JSON.stringify(disclosures) };
    return this;
  }

  /** Without the first entries of the agent's chain, as a sweep leaves it; or of another agent's. */
  cut(count: number, chain = AGENT): this {
    this.organization(900, swept({ chain, seq: count, hash: 'x', count }));
    this.log.entries = this.log.entries.filter((entry) => entry.chain !== chain || entry.seq > count);
    return this;
  }

  /** Without what its organization, or the platform, has told so far. */
  sweep(second: number, organizationId = ORGANIZATION): this {
    const { chain } = organizationChain(organizationId);
    this.log.entries = this.log.entries.filter((entry) => entry.chain !== chain);
    return this.organization(second, swept({ chain, seq: 1, hash: 'x', count: 1 }), organizationId);
  }

  async replayed() {
    const shared = new SharedFacts(() => true, this.tenants);
    for (const entry of [...this.log.entries].sort(byChain)) {
      if (!isAgentChain(entry.chain) || (entry.chain !== AGENT && AGENT_EVENTS.includes(entry.event))) shared.add(entry);
    }
    const replay = new Replay(shared, (organizationId) => sourceOf(this.log).queued([organizationId]));
    for (const entry of [...this.log.entries].sort(byChain)) {
      await replay.begin(entry);
      replay.entry(entry, REPLAY_EVENTS.has(entry.event) ? openEntry(entry, true) : undefined);
    }
    const { right, wrong: { listed }, notReplayable } = replay.found;
    return { right, notReplayable, wrong: listed.map(({ detail }) => detail.replace(/^entry \d+ of chain agt_\w+ \(.*?\): /, '')) };
  }
}

function swept(cut: { chain: string; seq: number; hash: string; count: number }): AuditEvent {
  return {
    type: 'admin.audit_retention_sweep',
    metadata: {
      sweepId: 's', before: 'b', chains: [cut], archive: { skeleton: 'a', disclosures: 'b' },
      checkpoint: { size: 1, root: 'r', platformSize: 1, platformRoot: 'r' },
    },
  };
}

export const grantedTo = (giver: string, more: object): AuditEvent =>
  ({ type: 'capability.granted', capability: 'web.search', metadata: granted({ grantId: `grt_${giver}`, ...more }) }) as AuditEvent;

const granted = (more: object) =>
  ({ grantId: 'grt_1', version: 1, capability: 'web.search', hitlMode: 'auto', timeoutAction: 'reject', timeoutSeconds: 60, ...more });
const stampOf = (second: number, actorId: string) =>
  ({ id: newId('audit', BEGIN + second * 1_000), actorId, timestamp: new Date(BEGIN + second * 1_000) });

