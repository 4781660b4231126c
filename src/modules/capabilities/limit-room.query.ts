import { Injectable } from '@nestjs/common';
import { leftOf, type Limit, measureOf, type ReachedLimit } from '../../domain/gate/limits.js';
import { given } from '../../domain/given.js';
import { Statements } from '../../platform/database/statements/statements.js';
import type { GrantEntity } from './grant.entity.js';
import { GrantUsageStore, WINDOW_SECONDS } from './grant-usage.store.js';

/** How a limit stands for its reader. */
export interface LimitState extends Limit {
  readonly used: number;
  readonly left: number;
  /** Seconds until there is room, where the passing of time makes it. */
  readonly retryAfter?: number;
}

/** So many of the oldest uses of a window are looked at: a caller who is refused again and again must not read a day's uses each time. */
const OLDEST_USES = 1_000;

/** Of a page with more grants that have limits nobody adds up the uses: the gate waits for the same connections. */
const MOST_GRANTS = 50;

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

  /** How the limits of each grant stand now, without a time; none where a grant has no limits, or where it takes too long to say. */
  async ofGrants(grants: readonly Pick<GrantEntity, 'organizationId' | 'id' | 'limits'>[]): Promise<LimitState[][]> {
    const limited = grants.filter(({ limits }) => limits.length > 0);
    if (limited.length === 0 || limited.length > MOST_GRANTS) return grants.map(() => []);
    const wanted = limited.map(({ organizationId, id, limits }) => ({ organizationId, grantId: id, limits }));
    const usages = await this.usage.read(wanted).catch(() => []);
    return grants.map((grant) => {
      const { used } = usages[limited.indexOf(grant)] ?? { used: [] };
      return used.map((amount, i) => stateOf({ ...grant.limits[i]!, used: amount }));
    });
  }

  /** How limits stand that a call goes past, and when there is room for the call. */
  async statesOf(organizationId: string, grantId: string, reached: readonly ReachedLimit[]): Promise<LimitState[]> {
    const rows = await this.statements.byKey<{ seconds: number | null }>(ROOM, [
      organizationId, grantId, reached.map(measureOf), reached.map(({ per }) => WINDOW_SECONDS[per]),
      reached.map(({ used }) => used), reached.map(({ amount }) => amount), reached.map(({ max }) => max),
    ]);
    return reached.map((limit, i) => stateOf(limit, rows[i]?.seconds ?? undefined));
  }
}

function stateOf(limit: Limit & { readonly used: string }, seconds?: number): LimitState {
  const { max, per, sum, then, used } = limit;
  return given({ max, per, sum, then, used: Number(used), left: leftOf(limit, used), retryAfter: seconds && Math.max(seconds, 1) });
}
