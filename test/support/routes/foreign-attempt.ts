import { goodBody } from './bad-bodies.js';
import { USED_KEY } from './organization-scenario.js';
import { namedIn, pathOf, type MemberSchema, type Route } from './routes.js';

export interface Attacker {
  readonly role: string;
  readonly token: string;
  readonly agentId: string;
}

type Ids = Readonly<Record<string, readonly string[]>>;

export interface Loot {
  readonly own: Ids;
  readonly foreign: Ids;
  /** Cursors that the other organization's people were given. */
  readonly cursors: readonly string[];
}

export interface Attempt {
  readonly attacker: Attacker;
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Where it brings something of the other organization. */
  readonly places: readonly ('in the path' | 'in the body' | 'in a filter' | 'as a cursor')[];
}

/** What a member or parameter of this name can hold the id of. One that ends in "id" and is not listed may hold any. */
const HOLDS: Readonly<Record<string, string>> = {
  agentId: 'agents', toAgentId: 'agents', fromAgentId: 'agents', ownerId: 'users', userId: 'users', teamId: 'teams',
  organizationId: 'organizations', tenantId: 'tenants', grantId: 'grant', executionId: 'executions', hitlId: 'hitl',
  hitlRequestId: 'hitl', capability: 'capability',
};

/** Members and filters that are tried on every route, whether or not it knows them: what is not declared must count for nothing. */
const ANYWHERE = ['organizationId', 'agentId', 'userId', 'ownerId', 'teamId', 'tenantId', 'grantId'];

/** Of which names the id goes into lists, as themselves or in objects. */
const LISTS: Readonly<Record<string, (ids: readonly string[], capability: string) => unknown>> = {
  grants: (ids, capability) => [{ capability, agentId: ids[0], teamId: ids[0] }],
  items: (ids) => ids.map((id) => ({ id })),
  members: (ids) => ids.map((userId) => ({ userId, role: 'member' })),
  quorum: (ids) => ({ approvals: 2, groups: ids.map((teamId) => ({ teamId })) }),
};

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A call of the attacker's to the route which names at least one thing of the other organization. */
export function attemptOn(route: Route, attacker: Attacker, loot: Loot, random: () => number): Attempt {
  const chance = (share: number) => random() < share;
  const among = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const places = new Set<Attempt['places'][number]>();
  const kindOf = (name: string): string | undefined =>
    HOLDS[name] ?? (/^id$|Ids?$/.test(name) ? among(Object.keys(loot.foreign)) : undefined);
  const foreign = (kind: string): string => among(loot.foreign[kind] ?? []);

  const path = (): string => {
    const ids: Record<string, string> = {};
    for (const name of namedIn(route)) {
      const [own, others] = [loot.own[name], loot.foreign[name]];
      if (own === undefined || others === undefined) {
        throw new Error(`${route.template} names {${name}}: say in test/support/routes/organization-scenario.ts which there are`);
      }
      const isForeign = chance(0.7);
      if (isForeign && others.some((id) => !own.includes(id))) places.add('in the path');
      ids[name] = among(isForeign ? others : own);
    }
    return pathOf(route, ids);
  };

  const filters = (): string => {
    const query = new URLSearchParams();
    const add = (name: string) => {
      const kind = kindOf(name);
      if (kind === undefined) return;
      query.set(chance(0.5) ? name : snake(name), foreign(kind));
      places.add('in a filter');
    };
    for (const name of Object.keys(route.query)) {
      if (name === 'cursor' && loot.cursors.length > 0 && chance(0.3)) {
        query.set(name, among(loot.cursors));
        places.add('as a cursor');
      } else if (chance(0.5)) add(name);
    }
    if (route.method === 'GET' && chance(0.3)) add(among(ANYWHERE.filter((name) => !query.has(name) && !query.has(snake(name)))));
    return query.size === 0 ? '' : `?${query.toString()}`;
  };

  const body = (): Record<string, unknown> | undefined => {
    if (!route.takesBody && !chance(0.2)) return undefined;
    const own = { agentId: attacker.agentId, userId: among(loot.own.users!), organizationId: among(loot.own.organizations!) };
    const made: Record<string, unknown> = { ...goodBody(route, own) };
    const put = (name: string, schema?: MemberSchema) => {
      const list = LISTS[name];
      const kind = kindOf(name);
      const ids = [foreign(kind ?? 'teams'), foreign(kind ?? 'users')];
      const value = list ? list(ids, 'web.search') : kind === undefined ? undefined : schema?.type === 'array' ? ids : ids[0];
      if (value === undefined) return;
      delete made[name];
      made[chance(0.5) ? name : snake(name)] = value;
      places.add('in the body');
    };
    for (const [name, schema] of Object.entries(route.members)) if (chance(0.4)) put(name, schema);
    if (chance(0.3)) put(among(ANYWHERE.filter((name) => !(name in route.members))));
    return made;
  };

  for (;;) {
    places.clear();
    const target = `${path()}${filters()}`;
    const sent = route.method === 'GET' ? undefined : body();
    // A route that takes no id at all is asked for its own list as it stands now and then.
    if (places.size === 0 && !(namedIn(route).length === 0 && chance(0.1))) continue;
    return {
      attacker, method: route.method, path: target, places: [...places],
      ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
      headers: {
        ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
        ...(route.method === 'POST' && chance(0.1) ? { 'idempotency-key': USED_KEY } : {}),
      },
    };
  }
}
