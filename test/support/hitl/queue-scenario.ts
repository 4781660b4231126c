import fc from 'fast-check';
import { newId } from '../../../src/domain/ids.js';
import type { TestServer } from '../servers/server.js';

// Tenant groups of people, teams, agents and open requests as nobody would set them up by hand: for the rules of who may decide what,
// which stand in TypeScript for one decision and in SQL for queues.

/** When something came to be, as seen from when the requests were made. */
const AGES = ['older', 'same', 'younger'] as const;
type Age = (typeof AGES)[number];
const MINUTES = { older: -30, same: 0, younger: 10 } as const;

const age = fc.oneof({ weight: 12, arbitrary: fc.constant<Age>('older') }, fc.constantFrom(...AGES));
const PEOPLE = 7;
const somebody = fc.nat({ max: PEOPLE - 1 });
// Ties are rare: whatever bars somebody hides what else is wrong.
const seldom = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
const often = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null, freq: 3 });
const rarely = fc.constantFrom(false, false, false, true);

const person = fc.record({
  role: fc.constantFrom('viewer', 'member', 'member', 'admin', 'owner'),
  isElsewhere: rarely,
  ended: fc.constantFrom<Age | null>(null, null, null, null, 'older', 'younger'),
  /** Whose address they have: mostly their own; of an account that is closed or elsewhere at times. */
  address: seldom(somebody),
  account: age, roleSince: age, addressSince: age,
  vouchedBy: seldom(somebody),
});

/** Who is behind a request: by id, by address in any case, or by an address that nobody has. */
const name = fc.record({ who: somebody, by: fc.constantFrom('id', 'address', 'nobody') });

const team = fc.array(
  fc.record({ who: somebody, role: fc.constantFrom('member', 'lead'), since: age, roleSince: age }),
  { maxLength: 3 },
);

const request = fc.record({
  agent: fc.nat({ max: 1 }),
  level: fc.constantFrom(0, 0, 1, 2),
  isStrict: rarely,
  initiators: fc.oneof(fc.array(name, { maxLength: 0 }), fc.array(name, { maxLength: 2 })),
  createdBy: seldom(somebody), vouchedBy: seldom(somebody), owner: seldom(somebody), registrant: seldom(somebody),
  isTeamOfNow: fc.constantFrom(true, true, false),
  escalatedTo: fc.option(somebody, { nil: null, freq: 2 }),
});

export const scenarios = fc.record({
  isTenantGroup: fc.boolean(),
  isStrict: rarely,
  people: fc.array(person, { minLength: PEOPLE, maxLength: PEOPLE }),
  teams: fc.tuple(team, team),
  agents: fc.tuple(...[0, 1].map(() => fc.record({
    owner: often(somebody), team: often(fc.nat({ max: 1 })), registrant: seldom(somebody),
  }))),
  requests: fc.array(request, { minLength: 1, maxLength: 6 }),
});
export type Scenario = typeof scenarios extends fc.Arbitrary<infer T> ? T : never;

export interface BuiltPersonRow {
  readonly id: string;
  readonly home: string;
  readonly role: 'viewer' | 'member' | 'admin' | 'owner';
  readonly isActive: boolean;
}

export interface BuiltScenario {
  readonly here: string;
  readonly elsewhere: string;
  readonly people: readonly BuiltPersonRow[];
  /** In the order of the scenario's. */
  readonly requests: readonly { readonly id: string; readonly agentId: string }[];
  readonly since: Date;
}

/** @param model a request of the API's making, which the others are copies of */
export async function buildScenario(
  server: TestServer, scenario: Scenario, model: { id: string; executionId: string },
): Promise<BuiltScenario> {
  const asked = new Date(Date.now() - 40 * 60_000);
  const at = (when: Age) => new Date(asked.getTime() + MINUTES[when] * 60_000);
  const [here, elsewhere] = [newId('org'), newId('org')] as [string, string];
  const tenant = scenario.isTenantGroup ? newId('ten') : null;
  const teams = scenario.teams.map(() => newId('team'));
  const agents = scenario.agents.map(() => newId('agt'));
  const people = scenario.people.map(({ isElsewhere, role, ended }) => ({
    id: newId('usr'), home: isElsewhere ? elsewhere : here, role: role as BuiltPersonRow['role'], isActive: ended === null,
  }));
  const idOf = (who: number | null) => (who === null ? null : people[who]!.id);
  const addressOf = (who: number): string => `${people[who]!.id}@example.test`;
  /** What the rows do not name has the column's default. */
  const insert = (table: string, rows: readonly Readonly<Record<string, unknown>>[]) => {
    const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))].join();
    if (columns === '') return [];
    return server.sql(
      `insert into ${table} (${columns}) select ${columns} from json_populate_recordset(null::${table}, $1)`, [JSON.stringify(rows)],
    );
  };

  await insert('organizations', [here, elsewhere].map((id) => ({
    id, name: 'an organization', tenant_id: tenant, revision: 0, created_at: asked, updated_at: asked,
    separation_of_duties: scenario.isStrict ? 'strict' : 'standard', decide_by_mail: false,
  })));
  const taken = new Set<string>();
  await insert('users', scenario.people.map((one, i) => {
    const wanted = addressOf(one.address ?? i);
    // In one organization an address is one living account's.
    const email = one.ended === null && taken.has(`${people[i]!.home} ${wanted}`) ? `other-${addressOf(i)}` : wanted;
    if (one.ended === null) taken.add(`${people[i]!.home} ${email}`);
    return {
      organization_id: people[i]!.home, id: people[i]!.id, email, email_folded: email, email_since: at(one.addressSince), role: one.role,
      role_since: at(one.roleSince), status: one.ended === null ? 'active' : 'deleted', ended_at: one.ended && at(one.ended),
      vouched_by: idOf(one.vouchedBy) ?? 'root', created_at: at(one.account), updated_at: asked,
    };
  }));
  await insert('team_members', scenario.teams.flatMap((members, i) =>
    [...new Map(members.map((one) => [one.who, one])).values()].map((one) => ({
      organization_id: here, team_id: teams[i], user_id: idOf(one.who), role: one.role, since: at(one.since), role_since: at(one.roleSince),
    }))));
  await insert('agents', scenario.agents.map((one, i) => ({
    organization_id: here, id: agents[i], name: 'an agent', risk_level: 'minimal', status: 'active', tags: [], metadata: {}, epoch: 0,
    registered_by: idOf(one.registrant) ?? 'root', owner_id: idOf(one.owner), team_id: one.team === null ? null : teams[one.team],
    created_at: asked, updated_at: asked,
  })));
  const requests = [];
  for (const one of scenario.requests) {
    const [id, execution] = [newId('hitl'), newId('exec')];
    const frozen = one.isTeamOfNow ? scenario.agents[one.agent]!.team : 0;
    await copy(server, 'executions', model.executionId, { organization_id: here, id: execution, agent_id: agents[one.agent] });
    await copy(server, 'hitl_requests', model.id, {
      organization_id: here, id, agent_id: agents[one.agent], execution_id: execution, created_at: asked,
      expires_at: new Date(Date.now() + 3_600_000), escalation_level: one.level, status: one.level === 0 ? 'pending' : 'escalated',
      separation_of_duties: one.isStrict ? 'strict' : 'standard', created_by: idOf(one.createdBy) ?? agents[one.agent],
      initiators: one.initiators.map(({ who, by }) =>
        by === 'id' ? idOf(who) : by === 'address' ? ` ${addressOf(who).toUpperCase()}` : 'nobody@elsewhere.example'),
      vouched_by: idOf(one.vouchedBy), agent_owner_id: idOf(one.owner), agent_registered_by: idOf(one.registrant) ?? 'root',
      team_id: frozen === null ? null : teams[frozen], escalated_to: idOf(one.escalatedTo),
    });
    requests.push({ id, agentId: agents[one.agent]! });
  }
  return { here, elsewhere, people, requests, since: asked };
}

async function copy(server: TestServer, table: string, id: string, changes: Readonly<Record<string, unknown>>): Promise<void> {
  await server.sql(
    `insert into ${table} select r.* from ${table} t, jsonb_populate_record(null::${table}, to_jsonb(t) || $2::jsonb) r where t.id = $1`,
    [id, JSON.stringify(changes)],
  );
}
