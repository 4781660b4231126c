import { randomInt } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { type EscalationLevel, HIGHEST_LEVEL } from '../../../domain/hitl/transition.js';
import { type Scope, scopeCondition } from '../../../platform/auth/access/scope.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { StatementsOnPool } from '../../../platform/database/statements/statements-on-pool.js';
import { joinProviderClaims } from '../../sign-in/ports/provider-claims.query.js';
import { HOMES, readEligibility } from './candidates.query.js';
import { type Eligibility, type JudgedRequest, ownersOf } from './eligibility.js';
import { agentTiesOf, type TieColumns, tiesOf } from './request-ties.js';

/** The open requests `q` in a person's queue, as a condition of `hitl_requests`. */
export interface QueueCondition {
  readonly sql: string;
  readonly parameters: readonly unknown[];
}

/** Open requests that the rules of deciding cannot distinguish: they have the same key, and the same people decide them. */
interface RequestGroup extends JudgedRequest {
  readonly key: string;
  readonly level: EscalationLevel;
  readonly escalatedTo: string | null;
}

interface GroupRow extends TieColumns {
  readonly key: string;
  readonly organizationId: string;
  readonly escalatedTo: string | null;
  readonly ownerNow: string | null;
  readonly registrantNow: string | null;
  readonly teamNow: string | null;
}

const OPEN = `q.status in ('pending', 'escalated')`;

/** The columns that decide who may decide a request, except for its age. */
const TIES = ['organization_id', 'agent_id', 'escalation_level', 'escalated_to', 'created_by', 'initiators', 'vouched_by', 'agent_owner_id',
  'agent_registered_by', 'team_id', 'separation_of_duties', 'task_owner_id'].map((column) => `q.${column}`).join(', ');

/** The rules compare a request's age with moments: between two of these, all ages are the same to them. */
const ageOf = (moments: string) => `width_bucket(q.created_at, ${moments}::timestamptz[])`;

/** The key of a request's group, good for one reading of a queue. With a seed, so that nobody can make two groups have one key. */
const keyOf = (moments: string, seed: string) => `hash_record_extended(row(${TIES}, ${ageOf(moments)}), ${seed}::bigint)`;

const ORGANIZATIONS = `
  select o.id, x.role <> 'member' as "isAdmin" from users x join organizations s on s.id = x.organization_id
  join organizations o on o.id = s.id or (x.role = 'owner' and o.tenant_id = s.tenant_id) where x.id = $1`;

// Each moment at which rights or addresses of people changed, since the oldest request was made. The next millisecond too, since "before"
// and "at the same time" differ.
const MOMENTS = `
  with ${HOMES},
  oldest as materialized (select min(q.created_at) as at from hitl_requests q where q.organization_id = any ($1) and ${OPEN}),
  initiators as (
    select distinct n from hitl_requests q cross join lateral unnest(q.initiators || q.created_by) as n
    where q.organization_id = any ($1) and ${OPEN} and (q.initiators <> '{}' or starts_with(q.created_by, 'usr_'))),
  changed as (
    select unnest(array[u.created_at, may.role_since, u.email_since, u.ended_at]) as at
    from homes s join users u on u.organization_id = s.id ${joinProviderClaims('u', '$2')}
    union all
    select unnest(array[m.since, m.role_since]) from team_members m where m.organization_id = any ($1)
    union all
    select u.email_since from initiators i join users u on u.id = i.n)
  select distinct m.at from changed c cross join lateral (values (c.at), (c.at + interval '1 millisecond')) m(at)
  where c.at >= (select at from oldest) order by m.at`;

const groupsWithin = (scope: string) => `
  select ${keyOf('$2', '$3')}::text as key, q.organization_id as "organizationId", q.escalation_level as "escalationLevel",
    q.escalated_to as "escalatedTo", min(q.created_at) as "createdAt", q.created_by as "createdBy", q.initiators,
    q.vouched_by as "vouchedBy", q.agent_owner_id as "agentOwnerId", q.agent_registered_by as "agentRegisteredBy", q.team_id as "teamId",
    q.separation_of_duties as "separationOfDuties", q.task_owner_id as "taskOwnerId",
    a.owner_id as "ownerNow", a.registered_by as "registrantNow", a.team_id as "teamNow"
  from hitl_requests q join agents a on a.organization_id = q.organization_id and a.id = q.agent_id
  where q.organization_id = any ($1) and ${OPEN} and ${scope}
  group by ${TIES}, ${ageOf('$2')}, a.owner_id, a.registered_by, a.team_id`;

/** After how many groups other calls get the processor. */
const GROUPS_AT_ONCE = 200;

/**
 * The queue of a level is its eligible deciders: who belongs to it, and may approve by separation of duties. Where there are none, it is
 * the next level's. A request whose addressee may approve it is in nobody else's queue.
 *
 * A queue may be long, so requests that the rules cannot distinguish are judged once, and the database finds the requests of the groups.
 */
@Injectable()
export class QueueQuery {
  constructor(
    private readonly pool: StatementsOnPool,
    @Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'oidcIssuer'>,
  ) {}

  /** @param firstParameter the number of the first parameter of the condition */
  async queueOf(scope: Scope, userId: string, firstParameter: number): Promise<QueueCondition> {
    const acting = await this.pool.run(ORGANIZATIONS, [userId]);
    const organizations = acting.map(({ id }) => String(id));
    const moments = await this.pool.run(MOMENTS, [organizations, this.config.oidcIssuer ?? null]);
    const times = moments.map(({ at }) => (at as Date).toISOString());
    const seed = randomInt(2 ** 47);
    const within = scopeCondition(scope, { organization: 'q.organization_id', agent: 'q.agent_id' }, 4);
    const rows = await this.pool.run(groupsWithin(within.sql), [organizations, times, seed, ...within.parameters]);
    const keys = await this.keysFor(userId, acting.some(({ isAdmin }) => isAdmin), (rows as unknown as GroupRow[]).map(groupOf));
    const [ids, ages, mark, mine] = [0, 1, 2, 3].map((i) => `$${firstParameter + i}`);
    return {
      sql: `${OPEN} and q.organization_id = any (${ids}) and ${keyOf(ages!, mark!)} = any (${mine}::bigint[])`,
      parameters: [organizations, times, seed, keys],
    };
  }

  private async keysFor(userId: string, isAdmin: boolean, groups: readonly RequestGroup[]): Promise<string[]> {
    const addressees = groups.flatMap(({ escalatedTo }) => (escalatedTo === null ? [] : [escalatedTo]));
    // Only of an admin it is asked whether somebody nearer to the agent is eligible.
    const near = isAdmin ? groups.filter(({ level }) => level < HIGHEST_LEVEL) : [];
    const eligibility = await readEligibility(this.pool.run, groups, {
      users: [...new Set([userId, ...addressees, ...near.flatMap(ownersOf)])],
      teams: [...new Set(near.flatMap(({ agent: { teamId } }) => (teamId === undefined ? [] : [teamId])))],
      admins: false,
    }, this.config.oidcIssuer ?? null);
    const keys: string[] = [];
    for (const [i, group] of groups.entries()) {
      if (i % GROUPS_AT_ONCE === GROUPS_AT_ONCE - 1) await setImmediate();
      if (isQueuedFor(userId, group, eligibility)) keys.push(group.key);
    }
    return keys;
  }
}

/** Admins stand in for a level that has nobody eligible; they alone can decide at levels that they do not belong to. */
function isQueuedFor(userId: string, group: RequestGroup, eligibility: Eligibility): boolean {
  const { level, escalatedTo } = group;
  if (!eligibility.mayApprove(userId, group, level)) return false;
  if (escalatedTo !== null && eligibility.mayApprove(escalatedTo, group, level)) return escalatedTo === userId;
  if (eligibility.isOfLevel(userId, group, level)) return true;
  return eligibility.isAdmin(userId, group.organizationId)
    && !eligibility.ofLevel(group, level).some((nearer) => eligibility.mayApprove(nearer, group, level));
}

function groupOf(row: GroupRow): RequestGroup {
  const { key, organizationId, escalationLevel: level, escalatedTo, ownerNow, registrantNow, teamNow } = row;
  const agent = agentTiesOf({ ownerId: ownerNow, registeredBy: registrantNow, teamId: teamNow });
  return { key, organizationId, level, escalatedTo, ties: tiesOf(row), agent };
}
