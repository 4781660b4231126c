import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { reachOf, type AccessKey } from '../../../domain/access/access.js';
import type { StoredEntry } from '../../../domain/audit/entry/stored-entry.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { type Caller, kindOf } from '../../../platform/auth/access/principal.js';
import type { Scope } from '../../../platform/auth/access/scope.js';
import { pageFrom, type Page, type PageRequest } from '../../../platform/http/fields/pagination.js';
import { type AuditFilter, selectionOf } from './entry-selection.js';
import { keyOf } from './index-scan.js';
import { IN_HEADS } from './organizations.query.js';
import { ENTRY_COLUMNS, numbered, type EntryRow } from './entry-rows.js';
import { IN_ORDER, pageOfEntries } from './entry-page.query.js';
import { ONE_MOMENT, readAtOneMoment } from './snapshots.query.js';

/** Beyond this many matches counting costs more than the number is worth. */
const COUNTED = 10_000;

export interface AuditPage extends Page<StoredEntry> {
  readonly totalIsExact: boolean;
}

/** Members read what they did and what is about them: whom a caller is narrowed to under this key, if anybody. */
export function onlyOf(key: AccessKey, { principal, actorId }: Caller): string | undefined {
  const kind = kindOf(principal);
  return kind !== 'system' && reachOf(key, kind) === 'own' ? actorId : undefined;
}

/** Reads the log. Nothing here writes: entries come only from a unit of work. */
@Injectable()
export class AuditQuery {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** @param onlyOf the reader, where a reader may see only entries that they made or that are about them */
  async find(scope: Scope, id: string, onlyOf?: string): Promise<StoredEntry | undefined> {
    const organizations = await this.organizations(scope);
    const [row] = await this.dataSource.query<EntryRow[]>(
      `select ${ENTRY_COLUMNS} from audit_entries e where e.organization_id = any ($1) and e.id = $2
         and ($3::text is null or e.chain = $3) and ($4::text is null or exists (
           select from audit_subjects s where s.organization_id = e.organization_id and s.user_id = $4 and s.entry_id = e.id))`,
      [organizations, id, scope.agentId ?? null, onlyOf ?? null],
    );
    return row && numbered(row);
  }

  /**
   * Newest first. An agent's entries come in the order of its chain, all others by id, which sorts by the time at which it
   * was made. Each organization is read by an index of its own, so that a page of everything costs a page of the newest, not a
   * sort of the log.
   */
  async list(scope: Scope, filter: AuditFilter, page: PageRequest, onlyOf?: string): Promise<AuditPage> {
    const selection = selectionOf(filter, scope.agentId, onlyOf);
    const organizations = selection === undefined ? [] : await this.organizations(scope, filter.organizationId, selection.chain);
    if (selection === undefined || organizations.length === 0) return { rows: [], total: 0, totalIsExact: true };
    // Page and total of one moment, sent in one go where no statement hangs on the answer of another.
    const read = (run: RunStatement) => pageOfEntries(run, { selection, organizations }, page, COUNTED + 1);
    const [rows, counted] = await readAtOneMoment(this.dataSource, read, `${ONE_MOMENT}; ${IN_ORDER}`);
    const total = Math.min(counted, COUNTED);
    const keyOfEntry = (entry: StoredEntry) => [keyOf(selection) === 'seq' ? String(entry.seq) : entry.id];
    return { ...pageFrom(rows, total, page.limit, keyOfEntry), totalIsExact: counted <= COUNTED };
  }

  /** Reads the log, and its trees, as of one moment. @param _scope of the caller; whoever reads keeps to the organizations in it */
  reading<Result>(_scope: Scope, read: (run: RunStatement) => Promise<Result>): Promise<Result> {
    return readAtOneMoment(this.dataSource, read);
  }

  /** The organizations of a scope by name: of "all", those that a chain has been in, or each by stepping through the heads' key. */
  private async organizations({ organizations }: Scope, only?: string, chain?: string): Promise<string[]> {
    if (organizations !== 'all') return organizations.filter((one) => only === undefined || one === only);
    if (only !== undefined) return [only];
    const [sql, parameters] = chain === undefined ? [IN_HEADS, []] : [ORGANIZATIONS_OF_CHAIN, [chain]];
    const rows = await this.dataSource.query<{ id: string }[]>(sql, parameters);
    return rows.map(({ id }) => id);
  }
}

const ORGANIZATIONS_OF_CHAIN = 'select h.organization_id as id from audit_heads h where h.chain = $1';
