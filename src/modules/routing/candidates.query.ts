import { Inject, Injectable } from '@nestjs/common';
import { isHardcoded } from '../../domain/gate/catalogue.js';
import type { HttpConnector } from '../../domain/gate/connector.js';
import type { RiskLevel } from '../../domain/gate/vocabulary.js';
import type { Candidate, Wanted } from '../../domain/routing/score.js';
import { CONFIG, type CompleteConfig } from '../../platform/config/config.js';
import { SharedReads } from '../../platform/database/batching/shared-reads.js';
import type { NamedStatement } from '../../platform/database/statements/named-statement.js';
import { Statements } from '../../platform/database/statements/statements.js';
import { textArray } from '../../platform/database/statements/text-array.js';
import { chooseRuntime } from '../executions/choose-runtime.js';
import { SuccessRates } from './success-rates.query.js';

export interface Candidates {
  readonly agents: readonly (Candidate & { readonly name: string })[];
  readonly needsNode: boolean;
}

/** As PostgreSQL puts it together. */
interface FoundAgent {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly riskLevel: RiskLevel;
  readonly tags: string[];
  readonly teamId: string | null;
  readonly nodeAgeMs: number | null;
  readonly load: number;
  readonly holds: string[] | null;
  readonly blocked: string[] | null;
}

interface Row {
  agents: FoundAgent[] | null;
  stops: (string | null)[] | null;
  connectors: HttpConnector[] | null;
}

/** How many agents that hold nothing of what is wanted are looked at, so that the log can say why they were rejected. */
const OTHERS = 20;

// A grant of the agent's own that is alive wins over its team's, as at the gate. Holders are found by their grants, so that what is read
// grows with those who hold something, and not with all agents. Each is looked up by key (`lateral … limit 1`): a plan that was made once
// for everybody would read all agents of everybody. They come as one JSON, which is parsed several times faster than a thousand rows.
const CANDIDATES: NamedStatement = {
  name: 'routing-candidates-3',
  text: `
    with clock as materialized (select clock_timestamp() as now),
    grants as (
      select g.agent_id, g.team_id, g.capability, g.hitl_mode from capability_grants g
      where g.organization_id = $1 and g.capability = any ($2) and g.revoked_at is null
        and (g.expires_at is null or g.expires_at > (select now from clock))),
    held as (
      select g.agent_id, g.capability, g.hitl_mode from grants g where g.agent_id is not null
      union all
      select a.id, g.capability, g.hitl_mode from grants g
      join agents a on a.organization_id = $1 and a.team_id = g.team_id and a.status <> 'removed'
      where g.team_id is not null and not exists (select from grants own where own.agent_id = a.id and own.capability = g.capability)),
    holders as (
      select agent_id, array_agg(capability) as holds, array_agg(capability) filter (where hitl_mode = 'block') as blocked
      from held group by agent_id),
    looked_at as (
      select agent_id as id, holds, blocked from holders
      union all
      (select a.id, null, null from agents a where a.organization_id = $1 and a.status <> 'removed'
         and not exists (select from holders h where h.agent_id = a.id) order by a.id limit ${OTHERS}))
    select s.stops, d.connectors, (
      select json_agg(json_build_object('id', a.id, 'name', a.name, 'status', a.status, 'riskLevel', a.risk_level, 'tags', a.tags,
        'teamId', a.team_id, 'holds', l.holds, 'blocked', l.blocked, 'load', h.load,
        'nodeAgeMs', extract(epoch from (select now from clock) - a.node_last_seen)::double precision * 1000))
      from looked_at l
      cross join lateral (select * from agents where organization_id = $1 and id = l.id and status <> 'removed' limit 1) a
      cross join lateral (select open_requests + open_tasks as load from audit_heads where organization_id = $1 and chain = l.id limit 1) h
    ) as agents
    from (select array_agg(agent_id) as stops from stops
      where organization_id in ($1, 'org_platform') and lifted_at is null) s
    cross join (select json_agg(connector) as connectors from capability_definitions
      where organization_id = $1 and name = any ($2) and connector is not null) d`,
};

/** The agents among whom one is looked for, each as it is now. Reads other modules' tables, and has none. */
@Injectable()
export class CandidatesQuery {
  private readonly shared = new SharedReads<Candidates>();

  constructor(
    private readonly statements: Statements,
    private readonly rates: SuccessRates,
    @Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'runtimePrimary'>,
  ) {}

  /** As they are when it is asked, or later: calls that ask the same meanwhile share a read. */
  read(organizationId: string, { capabilities }: Pick<Wanted, 'capabilities'>): Promise<Candidates> {
    const key = JSON.stringify([organizationId, ...capabilities]);
    return this.shared.read(key, () => this.readNow(organizationId, capabilities));
  }

  private async readNow(organizationId: string, capabilities: readonly string[]): Promise<Candidates> {
    const rates = this.rates.of(organizationId);
    const [row] = await this.statements.run<Row>(CANDIDATES, [organizationId, textArray([...capabilities])]);
    const { agents, connectors, stops } = row!;
    const runtimes = [undefined, ...(connectors ?? [])].map((connector) =>
      chooseRuntime(this.config.runtimePrimary, connector === undefined ? {} : { connector }).runtime);
    const stopped = new Set(stops);
    return {
      agents: (agents ?? []).map((agent) => candidateFrom(agent, stopped, rates.get(agent.id))), needsNode: runtimes.includes('node'),
    };
  }
}

const NOTHING_YET = { ended: 0, executed: 0 };

function candidateFrom(agent: FoundAgent, stopped: ReadonlySet<string | null>, rate = NOTHING_YET): Candidate & { readonly name: string } {
  const { holds, blocked, teamId, nodeAgeMs, ...rest } = agent;
  return {
    ...rest,
    // A stop without an agent is of the organization, or of everything.
    isStopped: stopped.has(null) || stopped.has(agent.id),
    holds: holds ?? [],
    // What is hardcoded escalates, whatever its grant says.
    blocked: (blocked ?? []).filter((capability) => !isHardcoded(capability)),
    ...rate,
    ...(teamId === null ? {} : { teamId }),
    ...(nodeAgeMs === null ? {} : { nodeAgeMs }),
  };
}
