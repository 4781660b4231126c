import { Inject, Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Logger } from 'pino';
import { DataSource } from 'typeorm';
import { isPassing } from '../../platform/http/reply/failure.js';
import { LOGGER } from '../../platform/logging/token.js';

/** Of an agent's executions that ended: how many, and how many of these were executed. */
export interface SuccessRate {
  readonly ended: number;
  readonly executed: number;
}

interface Gathered {
  readonly rates: ReadonlyMap<string, SuccessRate>;
  /** By a clock that never steps back. */
  readonly at: number;
}

const NONE: ReadonlyMap<string, SuccessRate> = new Map();
const GATHER_EVERY_MS = 60_000;
/** So many executions of an organization are counted, the newest: what is read does not grow with the years. */
const LOOKED_AT = 20_000;
const KEPT_AT_MOST = 1_000;

// What nobody decided, and what the gate or a person refused, says nothing of how an agent works.
const RATES = `
  select agent_id as "agentId", count(*)::integer as ended, (count(*) filter (where status = 'executed'))::integer as executed
  from (select agent_id, status from executions where organization_id = $1 order by id desc limit ${LOOKED_AT}) newest
  where status in ('executed', 'failed', 'indeterminate') group by agent_id`;

/**
 * How the agents of an organization have done lately. Gathered once a minute while somebody asks, beside the calls that ask: these take
 * what was gathered before, so that the first of them score every agent alike.
 */
@Injectable()
export class SuccessRates {
  private readonly gathered = new Map<string, Gathered>();
  private readonly gathering = new Set<string>();

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  of(organizationId: string): ReadonlyMap<string, SuccessRate> {
    const known = this.gathered.get(organizationId);
    if (!known || performance.now() - known.at > GATHER_EVERY_MS) void this.gather(organizationId);
    return known?.rates ?? NONE;
  }

  private async gather(organizationId: string): Promise<void> {
    if (this.gathering.has(organizationId)) return;
    this.gathering.add(organizationId);
    try {
      const rows = await this.dataSource.query<(SuccessRate & { agentId: string })[]>(RATES, [organizationId]);
      const rates = new Map(rows.map(({ agentId, ...rate }) => [agentId, rate]));
      this.gathered.delete(organizationId);
      if (this.gathered.size >= KEPT_AT_MOST) this.gathered.delete(this.gathered.keys().next().value!);
      this.gathered.set(organizationId, { rates, at: performance.now() });
    } catch (error) {
      if (!isPassing(error)) this.logger.error({ err: error }, 'success rates could not be gathered; the next routing decision asks again');
    } finally {
      this.gathering.delete(organizationId);
    }
  }
}
