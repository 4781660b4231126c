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

/** One of them, as the database answers it; `holds` and `blocked` are names that spaces part. */
interface Row {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly riskLevel: RiskLevel;
  readonly tags: string[] | null;
  readonly teamId: string | null;
  readonly nodeAgeMs: number | null;
  readonly load: number;
  readonly holds: string | null;
  readonly blocked: string | null;
}

/** What all of them share. */
interface Shared {
  readonly stops: (string | null)[] | null;
  readonly connectors: HttpConnector[] | null;
}

/** How many agents that hold nothing of what is wanted are looked at, so that the log can say why they were rejected. */
const OTHERS = 20;

// A grant of the agent's own that is alive wins over its team's, as at the gate. Holders are found by their grants, so that what is read
// grows with those who hold something, and not with all agents. Each is looked up by key (`lateral … limit 1`): a plan that was made once
// for everybody would read all agents of everybody. They come as rows of texts and numbers: to put a thousand together as JSON takes the
// database longer than to find them, and arrays take long to be parsed.
const CANDIDATES: NamedStatement = {
  name: 'routing-candidates-4',
  text: `
    with clock as materialized (select clock_timestamp() as now),
    grants as materialized (
      select g.agent_id, g.team_id, g.capability, g.hitl_mode from capability_grants g
      where g.organization_id = $1 and g.capability = any ($2) and g.revoked_at is null
        and (g.expires_at is null or g.expires_at > (select now from clock))),
    held as (
      select g.agent_id as id, g.capability, g.hitl_mode from grants g where g.agent_id is not null
      union all
      select a.id, g.capability, g.hitl_mode from grants g
      join agents a on a.organization_id = $1 and a.team_id = g.team_id and a.status <> 'removed'
      where g.team_id is not null and not exists (select from grants own where own.agent_id = a.id and own.capability = g.capability)),
    holders as (
      select id, string_agg(capability, ' ') as holds, string_agg(capability, ' ') filter (where hitl_mode = 'block') as blocked
      from held group by id),
    looked_at as (
      select id, holds, blocked from holders
      union all
      (select a.id, null, null from agents a where a.organization_id = $1 and a.status <> 'removed'
         and not exists (select from holders h where h.id = a.id) order by a.id limit ${OTHERS}))
    select a.id, a.name, a.status, a.risk_level as "riskLevel", nullif(a.tags, '{}') as tags, a.team_id as "teamId", l.holds, l.blocked,
      h.load, date_part('epoch', (select now from clock) - a.node_last_seen) * 1000 as "nodeAgeMs"
    from looked_at l
    cross join lateral (select * from agents where organization_id = $1 and id = l.id and status <> 'removed' limit 1) a
    cross join lateral (select open_requests + open_tasks as load from audit_heads where organization_id = $1 and chain = l.id limit 1) h`,
};

const SHARED: NamedStatement = {
  name: 'routing-shared-1',
  text: `select
    (select array_agg(agent_id) from stops where organization_id in ($1, 'org_platform') and lifted_at is null) as stops,
    (select json_agg(connector) from capability_definitions
     where organization_id = $1 and name = any ($2) and connector is not null) as connectors`,
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
    const asked = [organizationId, textArray([...capabilities])];
    const [rows, [shared]] = await Promise.all([this.statements.run<Row>(CANDIDATES, asked), this.statements.run<Shared>(SHARED, asked)]);
    const { connectors, stops } = shared!;
    const runtimes = [undefined, ...(connectors ?? [])].map((connector) =>
      chooseRuntime(this.config.runtimePrimary, connector === undefined ? {} : { connector }).runtime);
    const stopped = new Set(stops);
    const toNames = namesIn();
    return {
      agents: rows.map((row) => candidateFrom(row, toNames, stopped, rates.get(row.id))), needsNode: runtimes.includes('node'),
    };
  }
}

/** Most agents hold the same of what is asked for: each text is taken apart once. */
function namesIn(): (text: string | null) => readonly string[] {
  const known = new Map<string | null, readonly string[]>([[null, []]]);
  return (text) => {
    const names = known.get(text) ?? text!.split(' ');
    known.set(text, names);
    return names;
  };
}

const NONE: readonly string[] = [];
const NOTHING_YET = { ended: 0, executed: 0 };

function candidateFrom(
  row: Row, toNames: ReturnType<typeof namesIn>, stopped: ReadonlySet<string | null>, { ended, executed } = NOTHING_YET,
): Candidates['agents'][number] {
  const { id, name, status, riskLevel, tags, teamId, nodeAgeMs, load, holds, blocked } = row;
  return {
    id, name, status, riskLevel, load, ended, executed,
    tags: tags ?? NONE,
    // A stop without an agent is of the organization, or of everything.
    isStopped: stopped.has(null) || stopped.has(id),
    holds: toNames(holds),
    // What is hardcoded escalates, whatever its grant says.
    blocked: blocked === null ? NONE : toNames(blocked).filter((capability) => !isHardcoded(capability)),
    ...(teamId === null ? undefined : { teamId }),
    ...(nodeAgeMs === null ? undefined : { nodeAgeMs }),
  };
}
