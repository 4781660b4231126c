import { anonymous, as, asRoot, type Client } from '../http/actors.js';
import { Authenticator } from '../sign-in/authenticator.js';
import { anAgent } from '../builders/agents.js';
import { erased, verification } from './erasures.js';
import { aPassword, aVisitor, PASSWORD } from '../sign-in/passwords.js';
import { aPerson, firstOrganization } from '../builders/people.js';
import type { TestServer } from '../servers/server.js';
import { originOf } from '../builders/tenants.js';

/** What names the person of this story, wherever they come up. */
export const NAMES = {
  name: 'Zoë Fährmann-Öztürk',
  email: 'zoe.faehrmann@erased.example',
  before: 'zoe.before@erased.example',
  address: '203.0.113.77',
} as const;

/** What is known of them because they sign in, in tables and nowhere in the log. */
export const SIGN_IN = {
  subject: 'sub-of-zoe-4711',
  agent: 'ZoesBrowser/7.1 (of her own making)',
  device: 'pocket telephone of Z. F.-Ö.',
} as const;

const { name, email, before, address } = NAMES;

/** Settings of the server that the story is played on: the person calls from an address of theirs. */
export const STORY_ENVIRONMENT = { TRUSTED_PROXIES: '127.0.0.1' } as const;

/**
 * Somebody works here for a while: their name comes into every place that people and agents can write to.
 *
 * @param halfway once the log tells of their account, and of what they did from where
 * @returns their id
 */
export async function theyWereHere(server: TestServer, halfway?: () => Promise<void>): Promise<string> {
  const organizationId = await firstOrganization(server);
  const root = asRoot(server).with({ 'x-forwarded-for': address });
  const owner = await aPerson(server, 'owner');
  const id = (await root.with({ 'idempotency-key': 'their-account' })
    .post('/api/v1/users', { email: before, name, role: 'admin', avatarUrl: `https://erased.example/${email}` }))
    .expect(201).text('user.id');
  (await root.patch(`/api/v1/users/${id}`, { email })).expect(200);
  const key = (await root.post(`/api/v1/users/${id}/keys`, { name: `key of ${name}` })).expect(201).text('secret');
  const they = as(server, key).with({ 'x-forwarded-for': address });
  (await they.post('/api/v1/teams', { name: 'their first' })).expect(201);
  await halfway?.();
  (await they.post('/api/v1/teams', { name: `team of ${name}`, description: `led by ${name}` })).expect(201);
  (await they.get('/api/v1/users/me', { headers: { 'x-api-key': 'svc_root_wrong' } })).expect(401);
  await agentsWroteOfThem(server, they, owner.client, id);
  await theySignIn(server, { id, organizationId });
  const stop = await they.post('/api/v1/stops', { scope: 'organization', id: organizationId, reason: `${name} is away` });
  (await they.delete(`/api/v1/stops/${stop.expect(201).text('stop.id')}`)).expect(204);
  return id;
}

/** By their password, and a passkey from then on; the provider knows them too, and somebody invites them once more. */
async function theySignIn(server: TestServer, person: { readonly id: string; readonly organizationId: string }): Promise<void> {
  await aPassword(server, person);
  const { session } = await (await aVisitor(server, address)).signIn(email, PASSWORD, {}, { 'user-agent': SIGN_IN.agent });
  if (session === undefined) throw new Error('they could not sign in');
  const browser = anonymous(server).with({ cookie: session, origin: originOf(server), 'x-forwarded-for': address });
  const key = new Authenticator(originOf(server));
  const options = (await browser.post<never>('/api/v1/auth/passkeys/options')).expect(200).body;
  (await browser.post('/api/v1/auth/passkeys', { response: key.create(options), name: SIGN_IN.device })).expect(201);
  await server.sql(
    `insert into user_identities (organization_id, user_id, issuer, subject, claimed_role_since, claims_at, bound_at)
     values ($1, $2, 'https://id.example', $3, clock_timestamp(), clock_timestamp(), clock_timestamp())`,
    [person.organizationId, person.id, SIGN_IN.subject],
  );
  const { organizationId } = person;
  (await asRoot(server).post('/api/v1/users/invitations', { email, name, role: 'admin', organizationId })).expect(201);
}

async function agentsWroteOfThem(server: TestServer, they: Client, owner: Client, userId: string): Promise<void> {
  const agent = await anAgent(server).named(`agent of ${name}`).having({ description: `asks ${email}`, metadata: { contact: name } })
    .tagged('crm').granted('web.search').granted('email.send', { hitlMode: 'propose' }).create();
  const body = (capability: string, n: number) => ({
    capability, input: { to: email, n, [`about ${name}`]: 1, text: [`Dear ${name.toUpperCase()},`] },
    context: { on_behalf_of: userId, from: address },
  });
  for (let n = 0; n < 5; n++) {
    const call = agent.client.with({ 'idempotency-key': `search-of-${n}` });
    (await call.post('/api/v1/execute', body('web.search', n))).expect(200);
  }
  const requests: string[] = [];
  for (let n = 0; n < 4; n++) {
    requests.push((await agent.client.post('/api/v1/execute', body('email.send', n))).expect(202).text('hitlRequestId'));
  }
  const [approved, rejected, another] = requests as [string, string, string];
  (await owner.post(`/api/v1/hitl/${approved}/approve`, { note: `fine with me, ${name}` })).expect(200);
  (await they.post(`/api/v1/hitl/${rejected}/reject`, { note: `not to ${email}` })).expect(200);
  (await owner.post(`/api/v1/hitl/${another}/reject`, { note: `${name} should not get it` })).expect(200);
}

/** All of it is erased: the user, and then what was written of them by name, in the organization's log and in the platform's. */
export async function theyAreErased(server: TestServer, userId: string): Promise<void> {
  const root = asRoot(server);
  const second = await aPerson(server, 'admin');
  const search = (await root.delete(`/api/v1/users/${userId}/data`)).expect(200).text('erasures.0.id');
  await erased(server);
  // Others' decisions name them.
  (await second.client.post(`/api/v1/audit/erasures/${search}/confirm`)).expect(200);
  await erased(server);
  const values = [name, email, before, address];
  for (const organizationId of [await firstOrganization(server), 'org_platform']) {
    const asked = await root.post('/api/v1/audit/erasures', { values, reason: `${name} asked for it`, organizationId });
    if (asked.status === 202) (await second.client.post(`/api/v1/audit/erasures/${asked.text('erasure.id')}/confirm`)).expect(200);
    else asked.expect(200);
    await erased(server);
  }
  const verdict = await verification(server);
  if (!verdict.valid) throw new Error(`the log does not verify: ${JSON.stringify(verdict.breaks)}`);
}
