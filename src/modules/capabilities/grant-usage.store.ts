import { Injectable } from '@nestjs/common';
import { type Limit, type LimitPeriod, measureOf, type Use } from '../../domain/gate/limits.js';
import { Janitor, type Sweep } from '../../platform/database/janitor.service.js';
import { type NamedStatement, Statements } from '../../platform/database/statements.js';
import { textArray } from '../../platform/database/text-array.js';
import type { Tx } from '../../platform/database/tx.js';

/** Whose limits are compared. `without` leaves an execution's own share out: it is there already. */
export interface UsageWanted {
  organizationId: string;
  grantId: string;
  limits: readonly Limit[];
  without?: string;
}

export interface Usage {
  /** Of the usage row; compared when a decision that rests on it commits. */
  revision: number;
  /** For each limit, in its order, what is used up: exact decimals. */
  used: string[];
}

const WINDOW_SECONDS: Readonly<Record<LimitPeriod, number | null>> = { minute: 60, hour: 3_600, day: 86_400, total: null };

/** Longer than any request can stay open: only what can no longer be given back is forgotten. */
const KEPT_DAYS = 120;

// One statement, so one snapshot: the revision is that of the very uses that were added up.
const READ: NamedStatement = {
  name: 'grant-usage-1',
  text: `
    select u.revision,
      (coalesce(case when i.seconds is null
        then (select t.amount from grant_totals t
              where t.organization_id = i.organization_id and t.grant_id = i.grant_id and t.measure = i.measure)
        else (select sum(w.amount) from grant_uses w
              where w.organization_id = i.organization_id and w.grant_id = i.grant_id and w.measure = i.measure
                and w.used_at > clock_timestamp() - make_interval(secs => i.seconds)) end, 0)
      - coalesce((select w.amount from grant_uses w
                  where w.organization_id = i.organization_id and w.execution_id = i.without and w.grant_id = i.grant_id
                    and w.measure = i.measure
                    and (i.seconds is null or w.used_at > clock_timestamp() - make_interval(secs => i.seconds))), 0))::text as used
    from unnest($1::text[], $2::text[], $3::text[], $4::double precision[], $5::text[]) with ordinality
           as i(organization_id, grant_id, measure, seconds, without, n)
    join lateral (select revision from grant_usage where organization_id = i.organization_id and grant_id = i.grant_id limit 1) u on true
    order by i.n`,
};

interface Row {
  revision: string;
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

  async read(wanted: readonly UsageWanted[]): Promise<Usage[]> {
    return usagesFrom(wanted, await this.statements.run<Row>(READ, parametersOf(wanted)));
  }

  async readWithin(tx: Tx, wanted: UsageWanted): Promise<Usage> {
    return usagesFrom([wanted], await tx.query<Row & Record<string, unknown>>(READ.text, parametersOf([wanted])))[0]!;
  }

  /** Makes the row that everybody who counts on a grant takes their order from. Harmless to repeat. */
  async open(tx: Tx, organizationId: string, grantId: string): Promise<void> {
    await tx.query('insert into grant_usage (organization_id, grant_id) values ($1, $2) on conflict do nothing', [organizationId, grantId]);
  }

  /** Counts an execution under a grant, after the heads: for an approved one whose grant is no longer the one it was asked under. */
  async add(tx: Tx, organizationId: string, grantId: string, executionId: string, uses: readonly Use[]): Promise<void> {
    if (uses.length === 0) return;
    await this.touch(tx, organizationId, [grantId]);
    const parameters = [organizationId, grantId, executionId, uses.map((use) => use.measure), uses.map((use) => use.amount)];
    await tx.query(
      `insert into grant_uses (organization_id, grant_id, execution_id, measure, amount)
       select $1, $2, $3, * from unnest($4::text[], $5::numeric[])`,
      parameters,
    );
    await tx.query(
      `insert into grant_totals as t (organization_id, grant_id, measure, amount)
       select $1, $2, u.measure, u.amount from unnest($3::text[], $4::numeric[]) as u(measure, amount) order by 3
       on conflict (organization_id, grant_id, measure) do update set amount = t.amount + excluded.amount`,
      [organizationId, grantId, ...parameters.slice(3)],
    );
  }

  /** What was rejected, timed out or cancelled gives its share back. */
  async giveBack(tx: Tx, organizationId: string, executionId: string): Promise<void> {
    const held = await tx.query<{ grant_id: string }>(
      'select distinct grant_id from grant_uses where organization_id = $1 and execution_id = $2',
      [organizationId, executionId],
    );
    if (held.length === 0) return;
    await this.touch(tx, organizationId, held.map((row) => row.grant_id));
    await tx.query(
      `with gone as (
         delete from grant_uses where organization_id = $1 and execution_id = $2 returning grant_id, measure, amount)
       update grant_totals t set amount = t.amount - gone.amount from gone
       where t.organization_id = $1 and t.grant_id = gone.grant_id and t.measure = gone.measure`,
      [organizationId, executionId],
    );
  }

  /** Locks the usage rows, in their order, and raises their revision: decisions that rest on them are taken again. */
  private async touch(tx: Tx, organizationId: string, grantIds: readonly string[]): Promise<void> {
    await tx.query(
      `update grant_usage u set revision = u.revision + 1
       from (select grant_id from grant_usage where organization_id = $1 and grant_id = any ($2) order by grant_id for update) held
       where u.organization_id = $1 and u.grant_id = held.grant_id`,
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
  const usages = wanted.map(({ limits }) => {
    const mine = rows.slice(next, next + limits.length);
    next += limits.length;
    return { revision: Number(mine[0]?.revision), used: mine.map((row) => row.used) };
  });
  if (next !== rows.length) throw new Error('a grant with limits has no usage row');
  return usages;
}

const forgetOldUses: Sweep = async (manager, limit) => {
  const [, count] = await manager.query<[unknown[], number]>(
    `delete from grant_uses where (organization_id, execution_id, grant_id, measure) in
       (select organization_id, execution_id, grant_id, measure from grant_uses
        where used_at < clock_timestamp() - make_interval(days => $2) limit $1)`,
    [limit, KEPT_DAYS],
  );
  return count;
};
