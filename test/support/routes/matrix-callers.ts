import { expect } from '@jest/globals';
import { createHash } from 'node:crypto';
import type { AgentCredential, PrincipalKind } from '../../../src/domain/access/access.js';
import { anonymous, as, asRoot, type Client } from '../http/actors.js';
import { rotateRootKey } from '../servers/command-line.js';
import { eventually } from '../running/eventually.js';
import type { ClaimsOfUser, ForgedToken, TestProvider } from '../sign-in/oidc-provider.js';
import { aPerson, aPersonalKey, type BuiltPerson, closeAccount, type Role } from '../builders/people.js';
import { asProvider, linked } from '../sign-in/provider-people.js';
import { anAgentKey } from '../builders/agents.js';
import { anAgentOf } from './real-objects.js';
import type { TestServer } from '../servers/server.js';
import { asInternal, asSession, INTERNAL_KEY, type SessionTerms } from '../builders/tenants.js';
import { ROOT_KEY } from '../servers/test-run.js';

/** Somebody, or something, that calls every route. */
export interface MatrixCaller {
  readonly name: string;
  /**
   * Its column of the table; else `nobody`: no credential that holds; `inactive`: a genuine token of an agent out of service;
   * `kept out`: a genuine token of somebody who may not come in.
   */
  readonly is: 'nobody' | 'inactive' | 'kept out' | PrincipalKind;
  readonly from: 'here' | 'elsewhere';
  readonly client: Client;
  readonly person?: BuiltPerson;
  /** Of an agent: by what it comes. */
  readonly by?: AgentCredential;
  /** By a session, from a page of ours or without one. What changes something may end it, so each such call has one of its own. */
  readonly browser?: { readonly onPage: boolean; signsIn(): Promise<Client> };
}

/** Where callers are made. */
export interface MatrixScenario {
  readonly server: TestServer;
  readonly provider: TestProvider;
  readonly organizationId: string;
  /** Of another tenant. */
  readonly elsewhere: string;
  readonly tenantElsewhere: string;
}

const ROLES: readonly Role[] = ['owner', 'admin', 'member', 'viewer'];
const WORDS: Readonly<Record<Role, string>> = { owner: 'an owner', admin: 'an admin', member: 'a member', viewer: 'a viewer' };

const nobody = (name: string, client: Client): MatrixCaller => ({ name, is: 'nobody', from: 'here', client });

/**
 * In the short form, who would do most harm where one route forgets to ask: nobody, those who may do least, and those from elsewhere who
 * may do most. What the others may do stands in one table, of which each of them tries a part.
 */
export const CALLS_EVERY_ROUTE: ReadonlySet<string> = new Set([
  'without a credential', 'an agent', WORDS.viewer, WORDS.member, 'an agent of another organization', 'an owner of another organization',
]);

/**
 * Of `some`: everybody who calls by a key or token of our own (of agents' keys each kind of answer), and of the others whoever a rule of
 * their credential's own concerns.
 */
export async function matrixCallers(scenario: MatrixScenario, which: 'some' | 'all'): Promise<MatrixCaller[]> {
  const all = which === 'all';
  return [
    ...await callersByKey(scenario), ...await callersByAgentKey(scenario, all), ...await callersBySession(scenario, all),
    ...await callersByProvider(scenario, all),
  ];
}

/** By keys and tokens of our own. */
async function callersByKey({ server, organizationId, elsewhere }: MatrixScenario): Promise<MatrixCaller[]> {
  const person = async (role: Role, from: MatrixCaller['from'] = 'here'): Promise<MatrixCaller> => {
    const made = await aPerson(server, role, from === 'here' ? {} : { organizationId: elsewhere });
    const name = `${WORDS[role]}${from === 'here' ? '' : ' of another organization'}`;
    return { name, is: role, from, client: made.client, person: made };
  };
  const dead = await aPerson(server, 'owner');
  const revoked = await aPersonalKey(server, { organizationId, userId: dead.id });
  await server.sql('update personal_keys set revoked_at = clock_timestamp() where id = $1', [revoked.id]);
  const expired = await aPersonalKey(server, { organizationId, userId: dead.id, expiresAt: new Date(Date.now() - 1_000) });
  const deleted = await aPerson(server, 'owner');
  await closeAccount(server, deleted);
  const [agent, deactivated, removed, tokensEnded] = await Promise.all(
    Array.from({ length: 4 }, () => anAgentOf(server, organizationId, dead)));
  (await asRoot(server).post(`/api/v1/agents/${deactivated!.id}/deactivate`)).expect(200);
  (await asRoot(server).delete(`/api/v1/agents/${removed!.id}`)).expect(204);
  (await asRoot(server).delete(`/api/v1/agents/${tokensEnded!.id}/tokens`)).expect(204);
  const strange = await anAgentOf(server, elsewhere, dead);
  return [
    nobody('without a credential', anonymous(server)),
    nobody('a root key that never was', as(server, `svc_root_${'0'.repeat(64)}`)),
    nobody('a root key that was rotated away', as(server, await rotatedAway(server))),
    nobody('a token of a dead epoch', tokensEnded!.client),
    nobody('a revoked personal key', as(server, revoked.key)),
    nobody('an expired personal key', as(server, expired.key)),
    nobody('a key of a closed account', deleted.client),
    { name: 'a deactivated agent', is: 'inactive', from: 'here', client: deactivated!.client },
    { name: 'a removed agent', is: 'inactive', from: 'here', client: removed!.client },
    nobody('an internal key that is another server\'s', as(server, INTERNAL_KEY.toLowerCase())),
    { name: 'the internal key', is: 'internal', from: 'here', client: asInternal(server) },
    { name: 'root', is: 'root', from: 'here', client: asRoot(server) },
    { name: 'an agent', is: 'agent', from: 'here', client: agent!.client },
    { name: 'an agent of another organization', is: 'agent', from: 'elsewhere', client: strange.client },
    ...await Promise.all(ROLES.map((role) => person(role))),
    ...await Promise.all((['owner', 'admin', 'member'] as const).map((role) => person(role, 'elsewhere'))),
  ];
}

/** Agents by their keys. */
async function callersByAgentKey({ server, organizationId, elsewhere }: MatrixScenario, all: boolean): Promise<MatrixCaller[]> {
  const root = asRoot(server);
  const person = await aPerson(server, 'viewer');
  const keyed = async (from = organizationId) => {
    const agent = await anAgentOf(server, from, person);
    return { agent, key: await anAgentKey(server, agent) };
  };
  const [good, gone, inactive] = [await keyed(), await keyed(), await keyed()];
  // The server knows it as a key that was good a moment ago.
  const exchanged = (await gone.key.client.post('/api/v1/agents/token')).expect(200).text('token');
  (await root.delete(`/api/v1/agents/${gone.agent.id}/keys/${gone.key.id}`)).expect(204);
  (await root.post(`/api/v1/agents/${inactive.agent.id}/deactivate`)).expect(200);
  const some: MatrixCaller[] = [
    { name: 'an agent by its key', is: 'agent', from: 'here', client: good.key.client, by: 'key' },
    nobody('an agent key that was deleted', gone.key.client),
    nobody('a token of an agent key that was deleted', as(server, exchanged)),
    { name: 'a deactivated agent by its key', is: 'inactive', from: 'here', client: inactive.key.client, by: 'key' },
  ];
  if (!all) return some;
  const [expired, ended, removed, strange] = [await keyed(), await keyed(), await keyed(), await keyed(elsewhere)];
  await server.sql(`update agent_keys set expires_at = clock_timestamp() where id = $1`, [expired.key.id]);
  (await root.delete(`/api/v1/agents/${ended.agent.id}/tokens`)).expect(204);
  (await root.delete(`/api/v1/agents/${removed.agent.id}`)).expect(204);
  return [
    ...some,
    nobody('an agent key that never was', as(server, `svc_agent_${'0'.repeat(64)}`)),
    nobody('an agent key that has expired', expired.key.client),
    nobody('an agent key of a dead epoch', ended.key.client),
    nobody('an agent key of a removed agent', removed.key.client),
    { name: 'an agent of another organization by its key', is: 'agent', from: 'elsewhere', client: strange.key.client, by: 'key' },
  ];
}

/** A key that the command made and that was good, until the tests' own took its place again. */
async function rotatedAway(server: TestServer): Promise<string> {
  const key = await rotateRootKey(server.database.url);
  (await as(server, key).get('/api/v1/agents')).expect(200);
  await server.sql('update instance set root_key_hash = $1', [createHash('sha256').update(ROOT_KEY).digest('hex')]);
  return key;
}

/** People who have signed in. */
async function callersBySession({ server, elsewhere }: MatrixScenario, all: boolean): Promise<MatrixCaller[]> {
  const signedIn = async (
    name: string, role: Role, { from = 'here', onPage = true }: { from?: MatrixCaller['from']; onPage?: boolean } = {},
  ): Promise<MatrixCaller> => {
    const person = await aPerson(server, role, from === 'here' ? {} : { organizationId: elsewhere });
    const signsIn = async () => {
      const session = await asSession(server, person);
      return onPage ? session.client : session.withoutOrigin;
    };
    // Its use is written down now and then, which would be a change where none may be.
    const session = await asSession(server, person);
    await server.sql(`update sessions set last_used_at = clock_timestamp() + interval '1 hour' where id = $1`, [session.id]);
    return { name, is: role, from, client: onPage ? session.client : session.withoutOrigin, person, browser: { onPage, signsIn } };
  };
  const isOpen = async (id: string) =>
    (await server.sql('select 1 from sessions where id = $1 and ended_at is null', [id])).length > 0;
  const over = async (name: string, terms: SessionTerms, close = false): Promise<MatrixCaller> => {
    const person = await aPerson(server, 'owner');
    const { client, id } = await asSession(server, person, terms);
    if (close) await closeAccount(server, person);
    // That its time is over is written down a moment later, which would be a change where none may be.
    else await eventually(async () => expect(await isOpen(id)).toBe(false), { every: 100 });
    return { ...nobody(name, client), browser: { onPage: true, signsIn: async () => client } };
  };
  return Promise.all([
    ...(all ? ROLES : ['owner'] as const).map((role) => signedIn(`${WORDS[role]} by session`, role)),
    signedIn('an owner by session, from no page of ours', 'owner', { onPage: false }),
    over('a session that was ended', { endedBecause: 'asked' }),
    ...(all ? [
      signedIn('an owner by session, of another organization', 'owner', { from: 'elsewhere' }),
      over('a session without use for too long', { idle: -1 }),
      over('a session that is too old', { left: -1 }),
      over('a session of a closed account', {}, true),
    ] : []),
  ]);
}

/** People who come by a token of the identity provider, and tokens that claim what they must not. */
async function callersByProvider(scenario: MatrixScenario, all: boolean): Promise<MatrixCaller[]> {
  const { server, provider, elsewhere, tenantElsewhere } = scenario;
  const shows = async (
    name: string, record: Role, claims: ClaimsOfUser, is: MatrixCaller['is'], from: MatrixCaller['from'] = 'here',
  ): Promise<MatrixCaller> => {
    const person = await aPerson(server, record, from === 'here' ? {} : { organizationId: elsewhere });
    const client = await asProvider(server, provider, person, claims);
    // What it claims is written down when it is new.
    await client.get('/api/v1/users/me');
    return { name, is, from, client, person };
  };
  const forged = async (name: string, claims: ClaimsOfUser, how: Omit<ForgedToken, 'claims'> = {}): Promise<MatrixCaller> => {
    const sub = await linked(server, provider, await aPerson(server, 'owner'));
    (await as(server, await provider.accessToken(sub)).get('/api/v1/users/me')).expect(200);
    return nobody(name, as(server, await provider.accessToken(sub, claims, how)));
  };
  const BOAST = { tier: 'enterprise', has_subscription: true, managed: true };
  const some = await Promise.all([
    shows('a viewer whose token says owner, enterprise, paid and managed', 'viewer', { role: 'owner', ...BOAST }, 'viewer'),
    shows('an owner whose token names another tenant', 'owner', { role: 'owner', tenant_id: tenantElsewhere, ...BOAST }, 'kept out'),
    forged('a token without a signature', {}, { by: 'none' }),
  ]);
  if (!all) return some;
  const another = await aPerson(server, 'owner');
  const closed = await shows('a token of a closed account', 'owner', {}, 'nobody');
  await closeAccount(server, closed.person!);
  const lowered = await aPerson(server, 'owner');
  await linked(server, provider, lowered, 'viewer');
  const hour = 3_600;
  const now = Math.floor(Date.now() / 1_000);
  return [
    ...some,
    ...await Promise.all(ROLES.map((role) => shows(`${WORDS[role]} by a token of the provider`, role, { role }, role))),
    ...await Promise.all([
      shows('a member whose token says admin', 'member', { role: 'admin', tenant_id: scenario.organizationId }, 'member'),
      shows('an owner whose token says viewer', 'owner', { role: 'viewer' }, 'viewer'),
      shows('an admin by a token, of another organization', 'admin', { role: 'owner', tenant_id: tenantElsewhere }, 'admin', 'elsewhere'),
      shows('an owner whose token names another organization', 'owner', { tenant_id: elsewhere }, 'kept out'),
      forged('a token that names another account', { user_id: another.id, role: 'owner' }),
      forged('a token of a role that nobody knows', { role: 'root' }),
      forged('a token of another issuer', { iss: 'https://id.example' }),
      forged('a token for another audience', { aud: 'another-api' }),
      forged('a token that has expired', { iat: now - 2 * hour, exp: now - hour }),
      forged('a token that somebody else has signed', {}, { by: 'stranger' }),
    ]),
    closed,
    { name: 'a key of an owner whom the provider calls viewer', is: 'viewer', from: 'here', client: lowered.client, person: lowered },
  ];
}
