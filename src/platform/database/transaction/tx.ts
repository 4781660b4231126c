import type { EntityManager, QueryRunner } from 'typeorm';
import type { AuditEvent } from '../../../domain/audit/catalogue/audit-events.js';
import { changesSharedFacts } from '../../../domain/audit/catalogue/shared-fact-events.js';
import { type ChainRef, isAgentChain, organizationChain } from '../../../domain/audit/entry/chain.js';
import { type PreparedEntry, prepareEntry } from '../../../domain/audit/entry/prepare-entry.js';
import { newId } from '../../../domain/ids.js';
import type { JsonObject } from '../../../domain/json.js';
import { currentActor, currentOrigin } from '../../auth/access/call-context.js';
import type { RunStatement } from '../../auth/credentials/credential-source.js';
import { type Reply, reply } from '../../http/reply/replies.js';
import type { Effect } from '../../outbox/effects.js';
import { APPEND_ENTRIES, entryColumns, subjectColumns, FLUSH_STATEMENT } from './chain-writer.js';
import type { KeptAnswer } from './idempotency.js';
import { pipelined } from './pipelined.js';
import { moveHead } from './locks.js';
import type { Plan } from './plan.js';
import { clockSkewRefused, dependsOnTime, clockAgrees } from './clock-skew.js';

/** The SQLSTATE of a failed assertion (`assert_true_v1` in the database). */
const ASSERTION_FAILED = 'CS003';

export interface RecordOptions {
  /** Who did it, where that is not the caller of the present request: `system` for sweepers and workers. */
  actorId?: string;
  id?: string;
  /** An execution's closing entry carries no origin: it is the runtime's answer, not somebody's call. */
  closing?: true;
}

/** One open transaction. Stores take it as their first parameter, so a write outside of a unit of work does not compile. */
export class Tx {
  answered?: KeptAnswer;
  private readonly entries: PreparedEntry[] = [];
  /** Of the entries: those that were written before the end. */
  private written = 0;
  private readonly openRequests = new Map<string, { chain: ChainRef; change: number }>();
  private readonly effects: Effect[] = [];
  private changed: readonly string[] = [];
  private readonly more: ChainRef[] = [];
  private readonly later: (() => void)[] = [];
  private readonly sent: Promise<void>[] = [];
  private chains: readonly ChainRef[] = [];
  private closed: readonly ChainRef[] = [];
  private isTimed = false;

  /** Made by the unit of work alone. */
  constructor(
    private readonly runner: QueryRunner,
    private readonly plan: Plan,
  ) {}

  /** For the unit of work: the heads that it has locked, and those of them whose segment is closed. */
  setLocked({ chains, closed }: { readonly chains: readonly ChainRef[]; readonly closed: readonly ChainRef[] }): void {
    this.chains = chains;
    this.closed = closed;
  }

  /** TypeORM's manager on this transaction; for stores. */
  get manager(): EntityManager {
    return this.runner.manager;
  }

  get recorded(): number {
    return this.entries.length;
  }

  /** In the order in which they are written. */
  get enqueued(): readonly Effect[] {
    return this.effects;
  }

  /** For functions that run their statements in the transaction of whoever calls them. */
  readonly run: RunStatement = (sql, parameters) => this.query(sql, parameters);

  async query<Row = Record<string, unknown>>(sql: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    const result: unknown = await this.runner.query(sql, [...parameters]);
    // TypeORM answers an UPDATE or DELETE with [rows, count].
    const isWrite = Array.isArray(result) && result.length === 2 && Array.isArray(result[0]) && typeof result[1] === 'number';
    return (isWrite ? result[0] : result) as Row[];
  }

  /** Sends a statement whose answer is waited for at the commit. Where it fails, the work fails with the same error. */
  queue(sql: string, parameters: unknown[] = []): void {
    this.track(this.query(sql, parameters));
  }

  /**
   * The same for a change that has to change this number of rows: a compare-and-set that is not waited for. Where it changes another
   * number, the commit behind it becomes a rollback.
   *
   * @param change a statement that answers one row for each row that it has changed
   * @param refused makes the error that the work fails with then
   */
  assertRowCount(change: string, parameters: unknown[], rows: number, refused: () => Error): void {
    const sql = `with changed as (${change}) select assert_true_v1((select count(*) from changed) = $${parameters.length + 1})`;
    this.queueAsserting(sql, [...parameters, rows], refused);
  }

  /** The database's clock of this moment, after the locks. `now()` would be the transaction's start. */
  async now(): Promise<Date> {
    const [row] = await this.query<{ now: Date }>('select clock_timestamp() as now');
    return row!.now;
  }

  /** Records an event in a chain whose head this work has locked. It is written with the last statement. @returns the entry's id */
  record(chain: ChainRef, event: AuditEvent, options: RecordOptions = {}): string {
    return this.recordWhole(chain, event, options).id;
  }

  /** The same, for callers who sign the entry. @returns the entry */
  recordWhole(chain: ChainRef, event: AuditEvent, options: RecordOptions = {}): PreparedEntry {
    if (changesSharedFacts(chain.chain, event.type)) this.assertChangesShared(chain, event.type);
    const id = options.id ?? newId('audit');
    const origin = options.closing ? undefined : currentOrigin();
    const entry = prepareEntry(
      { ...event, chain, ...(isAgentChain(chain.chain) ? { agentId: chain.chain } : {}) },
      { id, actorId: options.actorId ?? currentActor(), timestamp: new Date(), ...(origin ? { origin } : {}) },
    );
    this.entries.push(entry);
    if (dependsOnTime(event.type)) this.assertClock(entry.timestamp);
    return entry;
  }

  /** Whether this work has locked the head of a chain that its plan names: always, unless the plan says `onlyFree`. */
  hasLocked(chain: ChainRef): boolean {
    return [...this.chains, ...this.more].some((one) => one.organizationId === chain.organizationId && one.chain === chain.chain);
  }

  /**
   * Locks further heads where they are free, and waits for none, so that the one order of locks is kept.
   *
   * @returns those of them that are taken
   */
  async lockFree(chains: readonly ChainRef[]): Promise<ChainRef[]> {
    if (chains.length === 0) return [];
    const [taken, there] = await pipelined([this.heads(chains, 'for update skip locked'), this.heads(chains, '')]);
    const isTaken = new Set(taken.map(({ organizationId, chain }) => `${organizationId} ${chain}`));
    this.more.push(...taken.filter((chain) => !this.hasLocked(chain)));
    return there.filter(({ organizationId, chain }) => !isTaken.has(`${organizationId} ${chain}`));
  }

  /** Raises the revision of heads that this work has locked: decisions in flight about their agents are taken again. */
  async raiseHeads(chains: readonly ChainRef[]): Promise<void> {
    if (chains.length === 0) return;
    await this.query(
      `update audit_heads set revision = revision + 1
       where (organization_id, chain) in (select * from unnest($1::text[], $2::text[]))`,
      [chains.map((chain) => chain.organizationId), chains.map((chain) => chain.chain)],
    );
  }

  /** Runs `action` once this work is committed, for instance to wake waiting calls. It must not fail. */
  onCommit(action: () => void): void {
    this.later.push(action);
  }

  /** For the unit of work, behind its commit. */
  runOnCommit(): void {
    for (const action of this.later) action();
  }

  /** The chain for entries about an agent here: its own, or its organization's once the agent has left (`evenIfClosed`). */
  chainNow(chain: ChainRef): ChainRef {
    const left = this.closed.some((one) => one.organizationId === chain.organizationId && one.chain === chain.chain);
    return left ? organizationChain(chain.organizationId) : chain;
  }

  /**
   * Continues an agent's chain in another organization: the entry `out` ends the segment here, behind everything that was recorded
   * so far, and the entry `in` begins the segment there. Neither names the other organization. Later events are recorded there.
   */
  async moveChain(from: ChainRef, to: ChainRef, reason?: string): Promise<void> {
    const why = reason === undefined ? {} : { reason };
    this.record(from, { type: 'agent.transferred', metadata: { direction: 'out', ...why } });
    await this.writeEntries();
    const { seq, hash } = await moveHead((sql, parameters) => this.query(sql, parameters), from, to);
    this.record(to, { type: 'agent.transferred', metadata: { direction: 'in', fromSeq: seq, fromHash: hash, ...why } });
  }

  /** Writes an effect into the outbox: it is done after the commit, and only if the work is committed. */
  enqueue(effect: Effect): void {
    this.effects.push(effect);
  }

  /** Keeps the count of an agent's open HITL requests, which the cap is compared with, on its head. */
  countOpenRequests(chain: ChainRef, change: 1 | -1): void {
    const key = `${chain.organizationId} ${chain.chain}`;
    this.openRequests.set(key, { chain, change: (this.openRequests.get(key)?.change ?? 0) + change });
  }

  /**
   * The call's answer, kept with the effect under its Idempotency-Key, so that a retry after a lost answer finds it.
   *
   * @param kept the body without its secrets, where it has any
   */
  reply<Body>(status: number, body: Body, kept: unknown = body): Reply<Body> {
    this.answered = { status, body: kept };
    return reply(status, body);
  }

  /** The organizations whose shared facts this work changed. For the unit of work, which then drains their barriers. */
  get changedShared(): readonly string[] {
    return this.changed;
  }

  /** Raises the revisions that decisions in flight compare, where this work changes facts. For the unit of work. */
  async raiseRevisions(): Promise<void> {
    await this.raiseShared(this.plan.changesShared ?? []);
    if (!this.plan.leavesFacts) await this.raiseHeads(this.chains);
  }

  /** Queued statements that were not waited for yet. For the unit of work. */
  get pending(): readonly Promise<void>[] {
    return this.sent;
  }

  /**
   * The statement that writes all that was collected: counts, outbox rows, and last the entries. For the unit of work.
   *
   * @param claimSeconds for each effect, for how many seconds it is written as claimed
   */
  lastStatement(claimSeconds: readonly number[]): { sql: string; parameters: unknown[] } | undefined {
    const entries = this.takeEntries();
    const columns = [...entryColumns(entries), ...subjectColumns(entries)];
    if (this.openRequests.size === 0 && this.effects.length === 0) {
      return entries.length === 0 ? undefined : { sql: APPEND_ENTRIES, parameters: columns };
    }
    const counts = [...this.openRequests.values()];
    const collected = [
      counts.map(({ chain }) => chain.organizationId), counts.map(({ chain }) => chain.chain), counts.map(({ change }) => change),
      this.effects.map((effect) => effect.organizationId), this.effects.map((effect) => effect.kind),
      this.effects.map((effect) => JSON.stringify(effect.payload satisfies JsonObject)), claimSeconds,
    ];
    return { sql: FLUSH_STATEMENT, parameters: [...collected, ...columns] };
  }

  /** @throws Error where decisions that rest on older facts could still be under way: a mistake in the plan */
  private assertChangesShared({ organizationId, chain }: ChainRef, event: string): void {
    const { changesShared = [], creates = [] } = this.plan;
    if (changesShared === 'all' || changesShared.includes(organizationId)) return;
    if (creates.some((one) => one.organizationId === organizationId && one.chain === chain)) return;
    throw new Error(`${event} changes what agents of ${organizationId} share, and the plan does not say so`);
  }

  private heads(chains: readonly ChainRef[], locking: '' | 'for update skip locked'): Promise<ChainRef[]> {
    return this.query<ChainRef>(
      `select organization_id as "organizationId", chain from audit_heads
       where (organization_id, chain) in (select * from unnest($1::text[], $2::text[])) order by organization_id, chain ${locking}`,
      [chains.map((chain) => chain.organizationId), chains.map((chain) => chain.chain)],
    );
  }

  /** Once for each work: all of its stamps are by the same clock, and none is older than the transaction. */
  private assertClock(stamp: string): void {
    if (this.isTimed) return;
    this.isTimed = true;
    this.queueAsserting(`select assert_true_v1(${clockAgrees('$1', 'now()')})`, [stamp], clockSkewRefused);
  }

  private queueAsserting(sql: string, parameters: unknown[], refused: () => Error): void {
    this.track(this.query(sql, parameters).catch((error: unknown) => {
      throw (error as { code?: unknown }).code === ASSERTION_FAILED ? refused() : error;
    }));
  }

  private track(answer: Promise<unknown>): void {
    const done = answer.then(() => undefined);
    // The commit fails with the same error.
    done.catch(() => undefined);
    this.sent.push(done);
  }

  private takeEntries(): PreparedEntry[] {
    const entries = this.entries.slice(this.written);
    this.written = this.entries.length;
    return entries;
  }

  private async writeEntries(): Promise<void> {
    const entries = this.takeEntries();
    if (entries.length > 0) await this.query(APPEND_ENTRIES, [...entryColumns(entries), ...subjectColumns(entries)]);
  }

  private async raiseShared(shared: readonly string[] | 'all'): Promise<void> {
    if (shared.length === 0) return;
    // Otherwise an organization that is being made would be missed, and with it the decisions of its first agents.
    if (shared === 'all') await this.query('lock table organizations in share row exclusive mode');
    const raised = await this.query<{ id: string }>(
      `update organizations o set revision = o.revision + 1
       from (select id from organizations where $1::text[] is null or id = any ($1) order by id for no key update) changed
       where o.id = changed.id returning o.id`,
      [shared === 'all' ? null : shared],
    );
    this.changed = raised.map(({ id }) => id);
  }
}
