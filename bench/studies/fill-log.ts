// A log of millions, written by the engine's own function but past the API: real payloads, commitments and hashes, so that what a
// benchmark leaves behind still verifies.
import { type RecordedEvent, prepareEntry, type PreparedEntry } from '../../src/domain/audit/entry/prepare-entry.js';
import { agentChain, organizationChain } from '../../src/domain/audit/entry/chain.js';
import { newId } from '../../src/domain/ids.js';
import { APPEND_ENTRIES, entryColumns, subjectColumns } from '../../src/platform/database/transaction/chain-writer.js';
import type { Stage } from '../stage.js';

const BATCH = 2_000;
const DAYS = 30;
const DAY_MS = 86_400_000;

/** What the log is made of, for those who ask for it. */
export interface FilledLog {
  /** The first has the hot agent and those that call; the others are as large as each other. */
  readonly organizations: readonly Organization[];
  /** Made a quarter of all entries, and none with a capability of an odd number. */
  readonly hot: string;
  /** Of people, who act in every organization. */
  readonly users: readonly string[];
  /** Made a twentieth of all entries, none of them of the hot agent. */
  readonly busyUser: string;
  readonly begin: number;
  readonly end: number;
}

interface Organization {
  readonly id: string;
  readonly agents: readonly string[];
}

const AGENTS_OF_OTHERS = 2;

export const capabilityOf = (nth: number): string => `bench.capability${nth}`;
export const CAPABILITIES = 24;
/** Stands on one entry in ten thousand. */
export const RARE_CAPABILITY = 'bench.rare';

const filled = new WeakMap<Stage, Promise<FilledLog>>();

export interface Size {
  readonly entries: number;
  readonly organizations: number;
}

/** The log of this stage, written once: whoever asks first says how large it is. */
export function fillLog(stage: Stage, size: Size, progress: (share: number) => void): Promise<FilledLog> {
  const log = filled.get(stage) ?? writeLog(stage, size, progress);
  filled.set(stage, log);
  return log;
}

/** Entries over 30 days up to now: skewed in agents, events, capabilities and people, and each in the order of time. */
async function writeLog(
  { database }: Stage, { entries: count, organizations: many }: Size, progress: (share: number) => void,
): Promise<FilledLog> {
  const { rows } = await database.query<{ id: string; organization: string }>(
    `select id, organization_id as organization from agents where name like 'agent-%' order by id`,
  );
  const agents = rows.map(({ id }) => id);
  const others = await openOrganizations(database, many - 1);
  const organizations = [{ id: rows[0]!.organization, agents }, ...others];
  const users = Array.from({ length: 50 }, () => newId('usr'));
  const end = Date.now() - 60_000;
  const log: FilledLog = { organizations, hot: agents[0]!, users, busyUser: users[0]!, begin: end - DAYS * DAY_MS, end };
  const random = randomFrom(20_261_123);
  await database.query('set statement_timeout = 0');
  for (let done = 0; done < count; done += BATCH) {
    const size = Math.min(BATCH, count - done);
    const entries = Array.from({ length: size }, (_, i) => entryAt(log, log.begin + ((done + i) * DAYS * DAY_MS) / count, random));
    await append({ database }, entries);
    progress((done + size) / count);
  }
  for (const name of ['audit_entries', 'audit_subjects', 'audit_heads', 'audit_tree_queue']) {
    await database.query(`vacuum (analyze) ${name}`);
  }
  return log;
}

/** The log alone knows them. */
async function openOrganizations(database: Stage['database'], many: number): Promise<Organization[]> {
  const opened = Array.from({ length: many }, () => (
    { id: newId('org'), agents: Array.from({ length: AGENTS_OF_OTHERS }, () => newId('agt')) }));
  const chains = opened.flatMap(({ id, agents }) => [organizationChain(id), ...agents.map((agent) => agentChain(id, agent))]);
  await database.query('insert into audit_heads (organization_id, chain) select * from unnest($1::text[], $2::text[])', [
    chains.map(({ organizationId }) => organizationId), chains.map(({ chain }) => chain),
  ]);
  return opened;
}

async function append({ database }: Pick<Stage, 'database'>, entries: readonly PreparedEntry[]): Promise<void> {
  await database.query('begin');
  await database.query(
    `select from audit_heads where (organization_id, chain) in (select * from unnest($1::text[], $2::text[]))
     order by organization_id, chain for update`,
    [entries.map(({ organizationId }) => organizationId), entries.map(({ chain }) => chain)],
  );
  await database.query(APPEND_ENTRIES, [...entryColumns(entries), ...subjectColumns(entries)]);
  await database.query('commit');
}

type Random = () => number;

/** The same log each time (mulberry32). */
function randomFrom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function entryAt(log: FilledLog, time: number, random: Random): PreparedEntry {
  const at = Math.floor(time);
  const stamp = (actorId: string) => ({ id: newId('audit', at), actorId, timestamp: new Date(at), origin: ORIGIN });
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const { organizations, hot } = log;
  const organization = organizations.length === 1 ? organizations[0]! : pick(organizations);
  if (random() < 0.02) {
    const chain = organizationChain(organization.id);
    const metadata = { teamId: 'team_x', change: 'updated' } as const;
    return prepareEntry({ chain, type: 'admin.team_changed', metadata }, stamp(pick(log.users)));
  }
  const isHot = random() < 0.25;
  const agentId = isHot ? hot : pick(organization.agents.filter((id) => id !== hot));
  const nth = Math.floor(random() ** 2 * CAPABILITIES);
  const capability = random() < 0.0001 ? RARE_CAPABILITY : capabilityOf(isHot ? nth - (nth % 2) : nth);
  const { event, by } = eventOf(random(), isHot);
  const user = random() < 0.5 ? log.busyUser : pick(log.users);
  const actor = by === 'agent' ? agentId : isHot ? pick(log.users.slice(1)) : by === 'root' ? 'root' : user;
  const chain = agentChain(isHot ? organizations[0]!.id : organization.id, agentId);
  return prepareEntry({ ...event, capability, chain, agentId } as RecordedEvent, stamp(actor));
}

export const ORIGIN = { requestId: 'req_0123456789abcdef', via: 'rest', address: '203.0.113.7' } as const;

export const INPUT = {
  supplier: 'Acme Industrial Supplies', order: 'PO-48213', amount: 1_249.5, currency: 'EUR', due: '2026-12-24',
  lines: [{ sku: 'A-100', quantity: 12 }, { sku: 'B-220', quantity: 3 }], note: 'deliver to the back gate', urgent: false,
};
const inExecution = { executionId: 'exec_0123456789abcdefghjkmnpqrstvwxyz0123' };
const inRequest = { hitlId: 'hitl_0123456789abcdefghjkmnpqrstvwxyz0123' };

interface Made {
  readonly event: { readonly type: string; readonly metadata: object };
  readonly by: 'agent' | 'user' | 'root';
}

function eventOf(chance: number, isHot: boolean): Made {
  if (chance < 0.42) {
    const metadata = { ...inExecution, grantId: 'grt_x', grantVersion: 1, definition: 'd'.repeat(64), input: INPUT, reasons: [] };
    return { event: { type: 'execution.started', metadata }, by: 'agent' };
  }
  if (chance < 0.8) return { event: { type: 'execution.completed', metadata: { ...inExecution, durationMs: 12 } }, by: 'agent' };
  if (chance < 0.83) return { event: { type: 'execution.blocked', metadata: { reason: 'CAPABILITY_BLOCKED', input: INPUT } }, by: 'agent' };
  if (chance < 0.84) {
    const error = { code: 'CONNECTOR_STATUS', message: 'it answered 500' };
    return { event: { type: 'execution.failed', metadata: { ...inExecution, error } }, by: 'agent' };
  }
  // The hot agent's requests are decided by nobody, though decisions are common elsewhere.
  if (chance < 0.9 || isHot) {
    const window = { hitlMode: 'propose', expiresAt: '2026-12-24T00:00:00.000Z' };
    const metadata = { ...inRequest, ...window, capability: 'c', input: INPUT, digest: 'd' };
    return { event: { type: 'hitl.created', metadata }, by: 'agent' };
  }
  if (chance < 0.96) return { event: { type: 'hitl.approved', metadata: { ...inRequest, comment: 'fine' } }, by: 'user' };
  if (chance < 0.9996) return { event: { type: 'hitl.rejected', metadata: { ...inRequest, comment: 'no' } }, by: 'root' };
  return { event: { type: 'hitl.escalated', metadata: { ...inRequest, reason: 'too large for me', level: 1 } }, by: 'user' };
}
