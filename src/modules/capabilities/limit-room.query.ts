import { Injectable } from '@nestjs/common';
import { leftOf, type Limit, measureOf } from '../../domain/gate/limits.js';
import { given } from '../../domain/given.js';
import { Statements } from '../../platform/database/statements/statements.js';
import type { GrantEntity } from './grant.entity.js';
import { GrantUsageStore, WINDOW_SECONDS } from './grant-usage.store.js';

/** A limit with what is used of it: exact decimals. */
export interface UsedLimit extends Limit {
  readonly used: string;
}

/** How a limit stands for its reader. */
export interface LimitState extends Limit {
  readonly used: number;
  readonly left: number;
  /** Seconds until there is room, where the passing of time makes it. */
  readonly retryAfter?: number;
}

/** So many of the oldest uses of a window are looked at: a caller who is refused again and again must not read a day's uses each time. */
const OLDEST_USES = 1_000;

/** A sum has room again as soon as this much fits. */
const LEAST_AMOUNT = '0.01';

const ROOM = `
  select (select ceil(extract(epoch from min(old.used_at) + make_interval(secs => i.seconds) - clock_timestamp()))::integer
    from (select w.used_at, sum(w.amount) over (order by w.used_at, w.execution_id) as gone
          from (select used_at, execution_id, amount from grant_uses
                where organization_id = $1 and grant_id = $2 and measure = i.measure
                  and used_at > statement_timestamp() - make_interval(secs => i.seconds)
                order by used_at, execution_id limit ${OLDEST_USES}) w) old
    where i.used - old.gone + i.amount <= i.max) as seconds
  from unnest($3::text[], $4::double precision[], $5::numeric[], $6::numeric[], $7::numeric[]) with ordinality
         as i(measure, seconds, used, amount, max, n)
  order by i.n`;

/** What is left of limits, and when there is room again. Read for people and refused callers, never for a decision. */
@Injectable()
export class LimitRoomQuery {
  constructor(
    private readonly statements: Statements,
    private readonly usage: GrantUsageStore,
  ) {}

  /** How the limits of each grant stand now; none where it has none. */
  async ofGrants(grants: readonly Pick<GrantEntity, 'organizationId' | 'id' | 'limits'>[]): Promise<LimitState[][]> {
    const limited = grants.filter(({ limits }) => limits.length > 0);
    const usages = limited.length === 0
      ? []
      : await this.usage.read(limited.map(({ organizationId, id, limits }) => ({ organizationId, grantId: id, limits })));
    const usageOf = new Map(limited.map((grant, i) => [grant, usages[i]!.used]));
    return Promise.all(grants.map(async (grant) => {
      const used = usageOf.get(grant) ?? [];
      return this.states(grant.organizationId, grant.id, used.map((amount, i) => {
        const limit = grant.limits[i]!;
        return { ...limit, used: amount, amount: limit.sum === undefined ? '1' : LEAST_AMOUNT };
      }));
    }));
  }

  /** @param reached limits, each with what is used of it and the amount for which room is wanted */
  async states(
    organizationId: string, grantId: string, reached: readonly (UsedLimit & { readonly amount: string })[],
  ): Promise<LimitState[]> {
    const full = reached.filter((limit) => limit.per !== 'total' && leftOf(limit, limit.used) < Number(limit.amount));
    const rows = full.length === 0 ? [] : await this.statements.byKey<{ seconds: number | null }>(ROOM, [
      organizationId, grantId, full.map(measureOf), full.map(({ per }) => WINDOW_SECONDS[per]),
      full.map(({ used }) => used), full.map(({ amount }) => amount), full.map(({ max }) => max),
    ]);
    const seconds = new Map(full.map((limit, i) => [limit, rows[i]?.seconds]));
    return reached.map((limit) => {
      const { max, per, sum, then, used } = limit;
      const wait = seconds.get(limit) ?? undefined;
      return given({
        max, per, sum, then, used: Number(used), left: leftOf(limit, used), retryAfter: wait && Math.max(wait, 1),
      });
    });
  }
}
