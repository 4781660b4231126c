import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { StoredEntry } from '../../domain/audit/stored-entry.js';
import type { LogSource } from '../../domain/audit/verify.js';
import type { Scope } from '../../platform/auth/scope.js';
import { pageFrom, type Page, type PageRequest } from '../../platform/http/pagination.js';
import { ENTRY_COLUMNS, SNAPSHOT, numbered, sqlLogSource, type EntryRow } from './log-source.query.js';

export interface AuditFilter {
  readonly event?: string;
  readonly agentId?: string;
  /** Entries whose actor or subject is this user. */
  readonly userId?: string;
  readonly capability?: string;
  /** `success` also finds `executed`. */
  readonly outcome?: string;
  readonly organizationId?: string;
  /** Both inclusive. */
  readonly from?: Date;
  readonly to?: Date;
}

/** Beyond this many matches counting costs more than the number is worth. */
const COUNTED = 10_000;

export interface AuditPage extends Page<StoredEntry> {
  readonly totalIsExact: boolean;
}

/** Reads the log. Nothing here writes: entries come only from a unit of work. */
@Injectable()
export class AuditQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** @param onlyOf the reader, where a reader may see only entries that they made or that are about them */
  async find(scope: Scope, id: string, onlyOf?: string): Promise<StoredEntry | undefined> {
    const organizations = await this.organizations(scope);
    const where = conditions({}, scope, onlyOf, 3);
    const [row] = await this.dataSource.query<EntryRow[]>(
      `select ${ENTRY_COLUMNS} from audit_entries e where e.organization_id = any ($1) and e.id = $2 and ${where.sql}`,
      [organizations, id, ...where.parameters],
    );
    return row && numbered(row);
  }

  /**
   * Newest first. An agent's entries come in the order of its chain, all others by id, which sorts by the time at which it
   * was made. Each organization is read by an index of its own, so that a page of everything costs a page of each, not a
   * sort of the log.
   */
  async list(scope: Scope, filter: AuditFilter, page: PageRequest, onlyOf?: string): Promise<AuditPage> {
    const organizations = await this.organizations(scope, filter.organizationId);
    const byChain = filter.agentId !== undefined;
    const where = conditions(filter, scope, onlyOf, 5);
    const key = byChain ? 'e.seq' : 'e.id';
    const after = byChain ? '($2::bigint is null or e.seq < $2)' : '($2::text is null or e.id < $2)';
    const cursor = byChain ? sequence(page.after?.[0]) : (page.after?.[0] ?? null);
    const [rows, counted] = await Promise.all([
      this.dataSource.query<EntryRow[]>(
        `select e.* from unnest($1::text[]) as o(organization_id) cross join lateral (
           select ${ENTRY_COLUMNS} from audit_entries e
           where e.organization_id = o.organization_id and ${after} and ${where.sql}
           order by ${key} desc limit $3::integer + $4::integer) e
         order by ${key} desc limit $3 offset $4`,
        [organizations, cursor, page.limit + 1, page.offset, ...where.parameters],
      ),
      this.count(organizations, filter, scope, onlyOf),
    ]);
    const keyOf = (entry: StoredEntry) => [byChain ? String(entry.seq) : entry.id];
    const total = Math.min(counted, COUNTED);
    return { ...pageFrom(rows.map(numbered), total, page.limit, keyOf), totalIsExact: counted <= COUNTED };
  }

  /** Reads the log as it stands at one moment, on a connection of its own. */
  async reading<Result>(scope: Scope, read: (source: LogSource) => Promise<Result>): Promise<Result> {
    const runner = this.dataSource.createQueryRunner();
    await runner.connect();
    try {
      await runner.startTransaction();
      for (const statement of SNAPSHOT) await runner.query(statement);
      const run = (sql: string, parameters: readonly unknown[]) => runner.query(sql, [...parameters]) as Promise<unknown[]>;
      return await read(sqlLogSource(run, scope.organizations));
    } finally {
      if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
      await runner.release();
    }
  }

  private async count(organizations: string[], filter: AuditFilter, scope: Scope, onlyOf?: string): Promise<number> {
    const where = conditions(filter, scope, onlyOf, 2);
    const [row] = await this.dataSource.query<[{ total: number }]>(
      `select count(*)::integer as total from (
         select 1 from audit_entries e where e.organization_id = any ($1) and ${where.sql} limit ${COUNTED + 1}) matches`,
      [organizations, ...where.parameters],
    );
    return row.total;
  }

  /** The organizations of a scope by name; "all" by stepping from one to the next through the heads' key. */
  private async organizations({ organizations }: Scope, only?: string): Promise<string[]> {
    if (organizations !== 'all') return organizations.filter((one) => only === undefined || one === only);
    if (only !== undefined) return [only];
    const rows = await this.dataSource.query<{ id: string }[]>(
      `with recursive found as (
         (select h.organization_id from audit_heads h order by h.organization_id limit 1)
         union all
         select (select h.organization_id from audit_heads h where h.organization_id > found.organization_id
                 order by h.organization_id limit 1)
         from found where found.organization_id is not null)
       select found.organization_id as id from found where found.organization_id is not null`,
    );
    return rows.map(({ id }) => id);
  }
}

/** A cursor of ours over a chain holds a position; anything else points behind its beginning. */
function sequence(text: string | undefined): string | null {
  if (text === undefined) return null;
  return /^\d{1,15}$/.test(text) ? text : '0';
}

interface Conditions {
  readonly sql: string;
  readonly parameters: unknown[];
}

function conditions(filter: AuditFilter, scope: Scope, onlyOf: string | undefined, first: number): Conditions {
  const parameters: unknown[] = [];
  const parts: string[] = [];
  const add = (value: unknown, condition: (parameter: string) => string) => {
    if (value === undefined) return;
    parameters.push(value);
    parts.push(condition(`$${first + parameters.length - 1}`));
  };
  // An agent's entries are its chain: naming the chain lets the primary key serve.
  add(scope.agentId, (agent) => `e.chain = ${agent}`);
  add(filter.agentId, (agent) => `e.chain = ${agent} and e.agent_id = ${agent}`);
  add(filter.event, (event) => `e.event = ${event}`);
  add(filter.capability, (capability) => `e.capability = ${capability}`);
  add(outcomes(filter.outcome), (outcome) => `e.outcome = any (${outcome})`);
  add(filter.from?.toISOString(), (from) => `e."timestamp" >= ${from}`);
  add(filter.to?.toISOString(), (to) => `e."timestamp" <= ${to}`);
  for (const user of [filter.userId, onlyOf]) {
    add(user, (id) => `(e.actor_id = ${id} or exists (
      select from audit_subjects s where s.organization_id = e.organization_id and s.user_id = ${id} and s.entry_id = e.id))`);
  }
  return { sql: parts.length === 0 ? 'true' : parts.join(' and '), parameters };
}

function outcomes(outcome: string | undefined): string[] | undefined {
  if (outcome === undefined) return undefined;
  return outcome === 'success' ? ['success', 'executed'] : [outcome];
}
