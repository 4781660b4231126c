import type { Condition } from '../../domain/gate/conditions.js';
import type { GrantFacts } from '../../domain/gate/decide.js';
import type { Limit } from '../../domain/gate/limits.js';
import type { GrantWord, RiskLevel, TimeoutAction } from '../../domain/gate/vocabulary.js';
import type { SeparationOfDuties } from '../../domain/hitl/duties.js';
import type { Quorum } from '../../domain/hitl/quorum.js';
import type { Reminder } from '../../domain/hitl/reminders.js';
import { DEFAULT_WINDOW_SECONDS } from '../../domain/hitl/window.js';
import type { CompleteConfig } from '../../platform/config/config.js';
import type { NamedStatement } from '../../platform/database/statements/named-statement.js';
import { textArray } from '../../platform/database/statements/text-array.js';
import { chooseRuntime } from '../executions/choose-runtime.js';
import { type DefinitionColumns, definitionOf } from './definition-facts.js';
import type { Facts, FactsWanted } from './facts.js';

export interface FactsRow extends DefinitionColumns {
  now: Date;
  revision: string | null;
  position: string | null;
  open_requests: number | null;
  open_tasks: number | null;
  organization_revision: string | null;
  organization_position: string | null;
  platform_position: string | null;
  root_key_hash: string;
  name: string | null;
  risk_level: RiskLevel;
  status: string;
  tags: string[];
  epoch: string;
  owner_id: string | null;
  team_id: string | null;
  registered_by: string;
  stops: string[] | null;
  separation_of_duties: SeparationOfDuties | null;
  tenant_id: string | null;
  limits: Limit[];
  grant_team_id: string | null;
  grant_id: string | null;
  grant_version: number;
  hitl_mode: GrantWord;
  conditions: Condition[];
  expires_at: Date | null;
  timeout_seconds: number | null;
  timeout_action: TimeoutAction;
  quorum: Quorum | null;
  reminders: Reminder[];
  key_fingerprint: string | null;
  key_execution_id: string | null;
  has_key?: boolean;
}

// One clock for the whole statement: a grant that ends while it runs holds for all of it, or for none. Each lookup is lateral and
// limited, so that it stays one by key: joined freely, a plan that was made before the tables had statistics reads all grants of
// everybody for each call.
const factsStatement = (name: string, more = { column: '', parameter: '', name: '', join: '' }): NamedStatement => ({
  name,
  text: `
    with clock as materialized (select clock_timestamp() as now)
    select (select now from clock) as now, h.revision, h.seq as position, h.open_requests, h.open_tasks,
      o.revision as organization_revision,
      c.seq as organization_position,
      (select seq from audit_heads where organization_id = 'org_platform' and chain = 'sys_platform') as platform_position,
      (select root_key_hash from instance) as root_key_hash,
      o.separation_of_duties, o.tenant_id, s.ids as stops,
      a.name, a.risk_level, a.status, a.tags, a.epoch, a.owner_id, a.team_id, a.registered_by,
      g.limits, g.team_id as grant_team_id, g.id as grant_id, g.version as grant_version, g.hitl_mode, g.conditions,
      g.expires_at, g.timeout_seconds, g.timeout_action, g.quorum, g.reminders,
      d.name is not null as defined, d.input_schema, d.connector,
      k.fingerprint as key_fingerprint, k.execution_id as key_execution_id${more.column}
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]${more.parameter}) with ordinality
           as i(organization_id, agent_id, capability, key_organization_id, key_scope${more.name}, n)
    left join lateral (select * from organizations where id = i.organization_id limit 1) o on true
    left join lateral (select * from audit_heads
      where organization_id = i.organization_id and chain = i.agent_id and closed_at is null limit 1) h on true
    left join lateral (select seq from audit_heads
      where organization_id = i.organization_id and chain = 'sys_' || i.organization_id limit 1) c on true
    left join lateral (select * from agents where organization_id = i.organization_id and id = i.agent_id limit 1) a on true
    left join lateral (select array_agg(id order by id) as ids from stops
      where organization_id in (i.organization_id, 'org_platform') and lifted_at is null
        and (agent_id is null or agent_id = i.agent_id)) s on true
    left join lateral (
      select *, expires_at is null or expires_at > (select now from clock) as alive from (
        (select * from capability_grants
         where organization_id = i.organization_id and agent_id = i.agent_id and capability = i.capability and revoked_at is null
         limit 1)
        union all
        (select * from capability_grants
         where organization_id = i.organization_id and team_id = a.team_id and capability = i.capability and revoked_at is null
         limit 1)) candidates
      order by alive desc, agent_id is null limit 1) g on true
    left join lateral (select * from capability_definitions
      where organization_id = i.organization_id and name = i.capability limit 1) d on true
    left join lateral (select * from idempotency_keys
      where organization_id = i.key_organization_id and scope = i.key_scope limit 1) k on true${more.join}
    order by i.n`,
});

export const READ = factsStatement('gate-facts-7');

/** For calls of which some have an agent key behind them. Key and revision come from one snapshot, so neither can be the older one. */
export const READ_WITH_KEYS = factsStatement('gate-facts-with-keys-2', {
  parameter: ', $6::text[]', name: ', agent_key_id', column: ', ak.id is not null as has_key',
  join: `
    left join lateral (select id from agent_keys
      where organization_id = i.organization_id and id = i.agent_key_id and agent_id = i.agent_id limit 1) ak on true`,
});

export function parametersOf(wanted: readonly FactsWanted[]): unknown[] {
  return [
    textArray(wanted.map((item) => item.organizationId)),
    textArray(wanted.map((item) => item.agentId)),
    textArray(wanted.map((item) => item.capability)),
    textArray(wanted.map((item) => item.key?.organizationId ?? null)),
    textArray(wanted.map((item) => item.key?.scope ?? null)),
  ];
}

export function factsFrom(
  row: FactsRow, { agentId, capability, agentKeyId }: FactsWanted, isUnanchored: boolean, primary: CompleteConfig['runtimePrimary'],
): Facts {
  const definition = definitionOf(row, capability);
  const exists = row.revision !== null && row.name !== null;
  return {
    now: row.now,
    readUpTo: { organization: Number(row.organization_position), platform: Number(row.platform_position) },
    organizationRevision: Number(row.organization_revision),
    openRequests: row.open_requests ?? 0,
    openTasks: row.open_tasks ?? 0,
    rootKeyHash: row.root_key_hash,
    ...(agentKeyId === undefined ? {} : { hasKey: row.has_key === true }),
    stops: (row.stops ?? []).map((id) => ({ id })),
    separationOfDuties: row.separation_of_duties ?? 'standard',
    tenantId: row.tenant_id,
    ...(isUnanchored ? { unanchored: true } : {}),
    ...(exists ? { revision: Number(row.revision), position: Number(row.position) } : {}),
    ...(exists
      ? {
          agent: {
            id: agentId, name: row.name!, riskLevel: row.risk_level, status: row.status, tags: row.tags, epoch: Number(row.epoch),
            registeredBy: row.registered_by,
            ...(row.owner_id === null ? {} : { ownerId: row.owner_id }),
            ...(row.team_id === null ? {} : { teamId: row.team_id }),
          },
        }
      : {}),
    ...(definition ? { definition } : {}),
    runtime: chooseRuntime(primary, definition),
    ...(row.grant_id === null ? {} : { grant: grantOf(row) }),
    ...(row.key_fingerprint === null ? {} : { kept: { fingerprint: row.key_fingerprint, executionId: row.key_execution_id } }),
  };
}

function grantOf(row: FactsRow): GrantFacts {
  return {
    id: row.grant_id!,
    version: row.grant_version,
    hitlMode: row.hitl_mode,
    conditions: row.conditions,
    limits: row.limits,
    ...(row.grant_team_id === null ? {} : { teamId: row.grant_team_id }),
    timeoutSeconds: row.timeout_seconds ?? DEFAULT_WINDOW_SECONDS,
    timeoutAction: row.timeout_action,
    reminders: row.reminders,
    ...(row.quorum === null ? {} : { quorum: row.quorum }),
    ...(row.expires_at === null ? {} : { expiresAt: row.expires_at }),
  };
}
