import pg from 'pg';
import { agentChain, organizationChain } from '../../../src/domain/audit/entry/chain.js';
import { type PreparedEntry, prepareEntry, type RecordedEvent } from '../../../src/domain/audit/entry/prepare-entry.js';
import { newId } from '../../../src/domain/ids.js';
import { appendLocked } from './append-past.js';
import type { TestDatabase } from '../servers/database.js';

export interface LogAcross {
  readonly organizations: readonly string[];
  readonly users: readonly string[];
  /** The time by which such a share of the log was written. */
  readonly at: (share: number) => string;
}

const BATCH = 500;
const SECOND = 1_000;
const KINDS = 8;
const BEGIN = Date.parse('2026-01-01T00:00:00.000Z');
export const CAPABILITY = 'web.search';
/** Of the first organization alone. */
export const SELDOM = 'file.read';

/** Entries of many organizations, written by the engine: executions of an agent of each, blocked ones, and decisions by people. */
export async function logAcross(database: TestDatabase, many: number, rounds: number): Promise<LogAcross> {
  const organizations = Array.from({ length: many }, () => newId('org'));
  const agents = organizations.map(() => newId('agt'));
  const users = [newId('usr'), newId('usr')];
  const moment = (round: number, nth: number) => BEGIN + (round * many + nth) * SECOND;
  const entries = Array.from({ length: rounds * many }, (_, i) => {
    const [round, nth] = [Math.floor(i / many), i % many];
    // Each round goes another way round, so that organizations have their newest entries in another order than their names.
    const place = (nth * 7 + round) % many;
    return entryOf({
      organizationId: organizations[place]!, agentId: agents[place]!, users, at: moment(round, nth), kind: (round * 3 + place) % KINDS,
      capability: place === 0 && round === 1 ? SELDOM : CAPABILITY,
    });
  });
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const chains = organizations.flatMap((id, i) => [organizationChain(id), agentChain(id, agents[i]!)]);
    await client.query('insert into audit_heads (organization_id, chain) select * from unnest($1::text[], $2::text[])', [
      chains.map(({ organizationId }) => organizationId), chains.map(({ chain }) => chain),
    ]);
    for (let i = 0; i < entries.length; i += BATCH) await appendLocked(client, entries.slice(i, i + BATCH));
    for (const table of ['audit_entries', 'audit_subjects', 'audit_heads']) await client.query(`vacuum (analyze) ${table}`);
  } finally {
    await client.end();
  }
  return { organizations, users, at: (share) => new Date(moment(0, 0) + rounds * many * share * SECOND).toISOString() };
}

interface Place {
  readonly organizationId: string;
  readonly agentId: string;
  readonly users: readonly string[];
  readonly at: number;
  readonly kind: number;
  readonly capability: string;
}

function entryOf({ organizationId, agentId, users, at, kind, capability }: Place): PreparedEntry {
  const [event, actorId] = eventOf(kind, agentId, users, capability);
  const stamp = { id: newId('audit', at), actorId, timestamp: new Date(at), origin: { via: 'rest', address: '192.0.2.1' } as const };
  const chain = event.type === 'admin.team_changed' ? organizationChain(organizationId) : agentChain(organizationId, agentId);
  return prepareEntry({ ...event, chain, ...(chain.chain === agentId ? { agentId } : {}) } as RecordedEvent, stamp);
}

type Made = readonly [event: { readonly type: string; readonly metadata: object }, actorId: string];

function eventOf(kind: number, agentId: string, [one, other]: readonly string[], capability: string): Made {
  const of = (type: string, metadata: object) => ({ type, capability, metadata });
  const executionId = newId('exec');
  const hitlId = newId('hitl');
  const begun = { executionId, grantId: 'grt_x', grantVersion: 1, definition: 'd'.repeat(64), input: {}, reasons: [], runtime: 'receipt' };
  switch (kind) {
    case 0: return [of('execution.completed', { executionId, durationMs: 1 }), agentId];
    case 1: return [of('hitl.approved', { hitlId, comment: 'fine' }), one!];
    case 2: return [of('hitl.rejected', { hitlId, comment: 'no' }), other!];
    case 3: return [of('execution.blocked', { reason: 'CAPABILITY_BLOCKED', input: {} }), agentId];
    case 4: return [{ type: 'admin.team_changed', metadata: { teamId: 'team_x', change: 'updated' } }, 'root'];
    case 5: return [of('hitl.rejected', { hitlId, comment: 'no' }), 'root'];
    default: return [of('execution.started', begun), agentId];
  }
}
