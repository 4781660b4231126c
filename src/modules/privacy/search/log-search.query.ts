import { Injectable } from '@nestjs/common';
import type { SearchedEntry } from '../../../domain/audit/erasure/search-entry.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import type { ChainRange } from '../execution/erasure.js';

/** Entries read at once: each may hold a few hundred kilobytes. */
export const ENTRIES_AT_ONCE = 100;

export interface FoundEntry extends SearchedEntry {
  readonly chain: string;
  readonly seq: number;
}

const ENTRY = `e.id, e.event, e.hash, e.disclosures, e.chain, e.seq::text as seq`;
const POINTERS = `array(select s.pointer from audit_subjects s
  where s.organization_id = e.organization_id and s.user_id = $2 and s.entry_id = e.id)`;

/** Reads the log for an erasure: entries of chains by position, and entries that concern a user. */
@Injectable()
export class LogSearchQuery {
  /** Entries of these parts of chains, in the order of the parts and by position. */
  async entries(
    tx: Tx, organizationId: string, userId: string | null, ranges: readonly ChainRange[], limit: number,
  ): Promise<FoundEntry[]> {
    return numbered(await tx.query<Row>(
      `select e.*, ${userId === null ? `'{}'::text[]` : POINTERS} as pointers
       from (
         select found.* from unnest($3::text[], $4::bigint[], $5::bigint[]) with ordinality as r(chain, low, high, n)
         cross join lateral (
           select e.organization_id, ${ENTRY}, r.n from audit_entries e
           where e.organization_id = $1 and e.chain = r.chain and e.seq > r.low and e.seq <= r.high and $2::text is distinct from ''
           order by e.seq limit $6) found
         limit $6) e
       order by e.n, e.seq::bigint`,
      [organizationId, userId, ranges.map(({ chain }) => chain), ranges.map(({ low }) => low), ranges.map(({ high }) => high), limit],
    ));
  }

  /** The same, page by page. */
  async *pages(
    tx: Tx, organizationId: string, userId: string | null, ranges: readonly ChainRange[],
  ): AsyncGenerator<FoundEntry[], void, void> {
    for (let rest = ranges; rest.length > 0; ) {
      const entries = await this.entries(tx, organizationId, userId, rest, ENTRIES_AT_ONCE);
      const last = entries.at(-1);
      if (!last) return;
      yield entries;
      if (entries.length < ENTRIES_AT_ONCE) return;
      rest = rest.slice(rest.findIndex(({ chain }) => chain === last.chain)).flatMap((range) => restOf(range, last));
    }
  }

  /** Entries that concern a user, by id; and the last one of the page, also where that one was swept. */
  async ofUser(
    tx: Tx, organizationId: string, userId: string, after: string,
  ): Promise<{ readonly entries: FoundEntry[]; readonly end: string | undefined }> {
    const rows = await tx.query<Row & { subject: string }>(
      `select ${ENTRY}, subject.entry_id as subject, subject.pointers
       from (select s.entry_id, array_agg(s.pointer) as pointers from audit_subjects s
             where s.organization_id = $1 and s.user_id = $2 and s.entry_id > $3 group by s.entry_id order by s.entry_id limit $4) subject
       left join audit_entries e on e.organization_id = $1 and e.id = subject.entry_id
       order by subject.entry_id`,
      [organizationId, userId, after, ENTRIES_AT_ONCE],
    );
    return { entries: numbered(rows.filter(({ id }) => id !== null)), end: rows.at(-1)?.subject };
  }

  /** All chains of an organization, for their heads to be locked. */
  async chains(tx: Tx, organizationId: string): Promise<string[]> {
    const rows = await tx.query<{ chain: string }>(
      'select chain from audit_heads where organization_id = $1 order by chain', [organizationId],
    );
    return rows.map(({ chain }) => chain);
  }

  /** The chains as they are now, from a chain on. */
  async heads(tx: Tx, organizationId: string, from: string, limit: number): Promise<ChainRange[]> {
    const rows = await tx.query<{ chain: string; high: string }>(
      `select chain, seq::text as high from audit_heads where organization_id = $1 and chain > $2 and seq > 0 order by chain limit $3`,
      [organizationId, from, limit],
    );
    return rows.map(({ chain, high }) => ({ chain, low: 0, high: Number(high) }));
  }
}

/** The rest of a part of a chain, behind a position. */
export function restOf(range: ChainRange, at: { readonly chain?: string; readonly seq?: number }): ChainRange[] {
  if (range.chain !== at.chain) return [range];
  return range.high > at.seq! ? [{ ...range, low: Math.max(range.low, at.seq!) }] : [];
}

type Row = Omit<FoundEntry, 'seq'> & { readonly seq: string } & Record<string, unknown>;

function numbered(rows: Row[]): FoundEntry[] {
  return rows.map((row) => ({ ...row, seq: Number(row.seq) }));
}
