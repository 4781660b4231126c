import { Injectable } from '@nestjs/common';
import { type Limit, type LimitPeriod, measureOf, type Use } from '../../domain/gate/limits.js';
import { Janitor, cleanupStep } from '../../platform/database/janitor.service.js';
import type { NamedStatement } from '../../platform/database/statements/named-statement.js';
import { Statements } from '../../platform/database/statements/statements.js';
import { textArray } from '../../platform/database/statements/text-array.js';
import type { Tx } from '../../platform/database/transaction/tx.js';

/** The grant whose limits are compared. `without` names an execution whose uses, already counted, are left out. */
export interface UsageWanted {
  organizationId: string;
  grantId: string;
  limits: readonly Limit[];
  without?: string;
}

/** A use, and the grant that counts it. */
export type GrantUse = Use & { readonly grantId: string };

export interface Usage {
  /** Of the usage row; compared when a decision that rests on it commits. */
  revision: number;
  /** For each limit, in its order, what is used up: exact decimals. */
  used: string[];
}

/** How long each window is; `total` has none. */
export const WINDOW_SECONDS: Readonly<Record<LimitPeriod, number | null>> = { minute: 60, hour: 3_600, day: 86_400, total: null };

/** Longer than the longest window. Uses of a waiting execution are kept while it waits: they may be given back, or begin to count. */
const KEPT_DAYS = 120;

// One statement, so one snapshot: the revision is that of the very uses that were added up. `statement_timestamp()`, since an
// index is not asked by a clock that moves: with `clock_timestamp()` each minute's window reads all that was ever used.
const READ: NamedStatement = {
  name: 'grant-usage-2',
  text: `
    select u.revision,
      coalesce(case when i.seconds is null
        then (select t.amount from grant_totals t
              where t.organization_id = i.organization_id and t.grant_id = i.grant_id and t.measure = i.measure)
           - coalesce((select w.amount from grant_uses w
                       where w.organization_id = i.organization_id and w.execution_id = i.without and w.grant_id = i.grant_id
                         and w.measure = i.measure), 0)
        else (select sum(w.amount) from grant_uses w
              where w.organization_id = i.organization_id and w.grant_id = i.grant_id and w.measure = i.measure
                and w.used_at > statement_timestamp() - make_interval(secs => i.seconds)
                and w.execution_id is distinct from i.without) end, 0)::text as used
    from unnest($1::text[], $2::text[], $3::text[], $4::double precision[], $5::text[]) with ordinality
           as i(organization_id, grant_id, measure, seconds, without, n)
    left join lateral (select revision from grant_usage
      where organization_id = i.organization_id and grant_id = i.grant_id limit 1) u on true
    order by i.n`,
};

/** A revision that no row has: a grant whose usage row somebody deleted commits nothing, and stops no other grant. */
const NO_ROW = -1;

interface Row {
  revision: string | null;
  used: string;
}

/** How much has been done under grants that have limits. The gate's commit writes uses; here they are read and given back. */
@Injectable()
export class GrantUsageStore {
  constructor(
    private readonly statements: Statements,
    janitor: Janitor,
  ) {
    janitor.register(forgetOldUses);
  }

  /** Calls under one grant are asked for once: all of them were read with the same limits. */
  async read(wanted: readonly UsageWanted[]): Promise<Usage[]> {
    const distinct = new Map(wanted.map((one) => [`${one.organizationId} ${one.grantId}`, one]));
    const usages = usagesFrom([...distinct.values()], await this.statements.run<Row>(READ, parametersOf([...distinct.values()])));
    const byGrant = new Map([...distinct.keys()].map((key, i) => [key, usages[i]!]));
    return wanted.map((one) => byGrant.get(`${one.organizationId} ${one.grantId}`)!);
  }

  /**
   * Behind the locks of the usage rows: two approvals at once, of two agents of a team, would otherwise each be compared with
   * what was used before the other. The rows of grants that count `without` are locked too: should it begin or end in this unit of
   * work, no row is left to lock out of order.
   *
   * @param without an execution whose uses, already counted, are left out
   */
  async readAllWithin(tx: Tx, organizationId: string, wanted: readonly UsageWanted[], without?: string): Promise<Usage[]> {
    const counting = without === undefined ? [] : await this.grantsCounting(tx, organizationId, [without]);
    await this.lock(tx, organizationId, [...counting, ...wanted.map(({ grantId }) => grantId)]);
    const asked = wanted.map((one) => ({ ...one, ...(without === undefined ? {} : { without }) }));
    return usagesFrom(asked, await tx.query<Row & Record<string, unknown>>(READ.text, parametersOf(asked)));
  }

  /** Makes the usage row, whose lock orders everything that counts on the grant. Harmless to repeat. */
  async open(tx: Tx, organizationId: string, grantId: string): Promise<void> {
    await tx.query('insert into grant_usage (organization_id, grant_id) values ($1, $2) on conflict do nothing', [organizationId, grantId]);
  }

  /**
   * Counts an execution that begins after it waited: in the windows of this moment, and under the grants that let it begin, whichever
   * grants counted it until now.
   */
  async begin(tx: Tx, organizationId: string, executionId: string, uses: readonly GrantUse[]): Promise<void> {
    await this.count(tx, organizationId, executionId, uses, false);
  }

  /** Counts a waiting execution anew after an edit: its uses are those of the edited input, from this moment on. */
  async askAnew(tx: Tx, organizationId: string, executionId: string, uses: readonly GrantUse[]): Promise<void> {
    await this.count(tx, organizationId, executionId, uses, true);
  }

  private async count(
    tx: Tx, organizationId: string, executionId: string, uses: readonly GrantUse[], waiting: boolean,
  ): Promise<void> {
    const counting = await this.grantsCounting(tx, organizationId, [executionId]);
    if (counting.length === 0 && uses.length === 0) return;
    await this.touch(tx, organizationId, [...counting, ...uses.map(({ grantId }) => grantId)]);
    await this.remove(tx, organizationId, [executionId]);
    if (uses.length === 0) return;
    const amounts = [uses.map((use) => use.grantId), uses.map((use) => use.measure), uses.map((use) => use.amount)];
    await tx.query(
      `insert into grant_uses (organization_id, execution_id, waiting, grant_id, measure, amount)
       select $1, $2, $3, * from unnest($4::text[], $5::text[], $6::numeric[])`,
      [organizationId, executionId, waiting, ...amounts],
    );
    await tx.query(
      `insert into grant_totals as t (organization_id, grant_id, measure, amount)
       select $1, u.* from unnest($2::text[], $3::text[], $4::numeric[]) as u(grant_id, measure, amount) order by 2, 3
       on conflict (organization_id, grant_id, measure) do update set amount = t.amount + excluded.amount`,
      [organizationId, ...amounts],
    );
  }

  /** Removes the uses of executions whose requests were rejected, timed out or cancelled. */
  async giveBack(tx: Tx, organizationId: string, executionIds: readonly string[]): Promise<void> {
    const counting = await this.grantsCounting(tx, organizationId, executionIds);
    if (counting.length === 0) return;
    await this.touch(tx, organizationId, counting);
    await this.remove(tx, organizationId, executionIds);
  }

  /** Keeps the uses that an execution has when it begins: its grant has no limits any more to count it by. */
  keep(tx: Tx, organizationId: string, executionId: string): void {
    tx.queue('update grant_uses set waiting = false where organization_id = $1 and execution_id = $2', [organizationId, executionId]);
  }

  /**
   * Locks the usage row of every grant that counts one of these executions, before the first use is given back. Two units of work that
   * locked execution by execution, over the same grants in another order, would deadlock.
   *
   * @param grantIds further grants that may come to count some of them
   */
  async lockCounting(tx: Tx, organizationId: string, executionIds: readonly string[], grantIds: readonly string[] = []): Promise<void> {
    const counting = [...(await this.grantsCounting(tx, organizationId, executionIds)), ...grantIds];
    if (counting.length > 0) await this.lock(tx, organizationId, counting);
  }

  /** Grants whose limits count these executions. They do not change while the head of the executions' agent is locked. */
  private async grantsCounting(tx: Tx, organizationId: string, executionIds: readonly string[]): Promise<string[]> {
    const rows = await tx.query<{ grant_id: string }>(
      'select distinct grant_id from grant_uses where organization_id = $1 and execution_id = any ($2)',
      [organizationId, executionIds],
    );
    return rows.map((row) => row.grant_id);
  }

  private async remove(tx: Tx, organizationId: string, executionIds: readonly string[]): Promise<void> {
    await tx.query(
      `with gone as (
         delete from grant_uses where organization_id = $1 and execution_id = any ($2) returning grant_id, measure, amount),
       back as (select grant_id, measure, sum(amount) as amount from gone group by grant_id, measure)
       update grant_totals t set amount = t.amount - back.amount from back
       where t.organization_id = $1 and t.grant_id = back.grant_id and t.measure = back.measure`,
      [organizationId, executionIds],
    );
  }

  /** Locks usage rows in the order of their ids. All code that locks them does so, once in a unit of work. */
  private async lock(tx: Tx, organizationId: string, grantIds: readonly string[]): Promise<void> {
    await tx.query('select from grant_usage where organization_id = $1 and grant_id = any ($2) order by grant_id for update', [
      organizationId, grantIds,
    ]);
  }

  /** Locks the usage rows, in the order of their ids, and raises their revision: decisions that rest on them are taken again. */
  private async touch(tx: Tx, organizationId: string, grantIds: readonly string[]): Promise<void> {
    await tx.query(
      `update grant_usage u set revision = u.revision + 1
       from (select grant_id from grant_usage where organization_id = $1 and grant_id = any ($2) order by grant_id for update) locked
       where u.organization_id = $1 and u.grant_id = locked.grant_id`,
      [organizationId, grantIds],
    );
  }
}

function parametersOf(wanted: readonly UsageWanted[]): unknown[] {
  const rows = wanted.flatMap(({ limits, ...rest }) => limits.map((limit) => ({ ...rest, limit })));
  return [
    textArray(rows.map((row) => row.organizationId)),
    textArray(rows.map((row) => row.grantId)),
    textArray(rows.map((row) => measureOf(row.limit))),
    rows.map((row) => WINDOW_SECONDS[row.limit.per]),
    textArray(rows.map((row) => row.without ?? null)),
  ];
}

function usagesFrom(wanted: readonly UsageWanted[], rows: readonly Row[]): Usage[] {
  let next = 0;
  return wanted.map(({ limits }) => {
    const mine = rows.slice(next, next + limits.length);
    next += limits.length;
    return { revision: Number(mine[0]?.revision ?? NO_ROW), used: mine.map((row) => row.used) };
  });
}

const forgetOldUses = cleanupStep(
  `delete from grant_uses where (organization_id, execution_id, grant_id, measure) in
     (select organization_id, execution_id, grant_id, measure from grant_uses
      where not waiting and used_at < clock_timestamp() - make_interval(days => $2) limit $1)`,
  KEPT_DAYS,
);
