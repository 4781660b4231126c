import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../../src/domain/json.js';
import { newId } from '../../../src/domain/ids.js';
import { anonymous, type Reply } from '../../support/http/actors.js';
import { Browser } from '../../support/http/browser.js';
import { aChatAccount, aPerson, anOrganization, type BuiltPerson, closeAccount, type Role } from '../../support/builders/people.js';
import { approveBy, aRequest, type AskedRequest, type AskedTerms, digestOf } from '../../support/builders/requests.js';
import { requestOf } from '../../support/builders/gate.js';
import { originOf } from '../../support/builders/tenants.js';
import { auditOf } from '../../support/log/entries.js';
import { startReceiver } from '../../support/http/receiver.js';
import { formsOf, signedIn, viaOf, wordsOf } from '../../support/notifications/decision-visits.js';
import { signedBySlack, type SlackWorkspace, startSlack } from '../../support/notifications/slack.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const CALLBACK = '/api/v1/notifications/callbacks/slack';
const ACCOUNTS = '/api/v1/notifications/chat-accounts';

let server: TestServer;
let slack: SlackWorkspace;
let organizationId: string;
let admin: BuiltPerson;
/** A Slack user of each test's own. */
let chatUser: string;
let users = 0;

beforeAll(async () => {
  slack = await startSlack();
  server = await startServer({
    env: { SLACK_WEBHOOK_URL: slack.webhookUrl, SLACK_SIGNING_SECRET: slack.signingSecret, SLACK_API_URL: slack.apiUrl },
  });
});
afterAll(async () => {
  await server.stop();
  await slack.close();
});
beforeEach(async () => {
  organizationId = await anOrganization(server, { name: 'Harbour' });
  admin = await person('admin');
  chatUser = `U${String(++users).padStart(4, '0')}`;
});

const person = (role: Role) => aPerson(server, role, { organizationId, name: `The ${role}` });
const asked = (terms: Partial<AskedTerms> = {}) => aRequest(server, { organizationId, ...terms });
const statusOf = async (id: string) => (await requestOf(server, id)).status;
const valueOf = async (request: AskedRequest) => JSON.stringify({ request: request.id, digest: await digestOf(server, request) });

const linked = ({ id }: BuiltPerson, age?: number) =>
  aChatAccount(server, { organizationId, userId: id, workspace: slack.team, chatUser, ...(age === undefined ? {} : { age }) });

const send = (body: string, headers: Record<string, string> = slack.signed(body)): Promise<Reply> =>
  anonymous(server).post(CALLBACK, undefined, { raw: body, headers });

/** Presses a button of this request as it stands now. */
async function press(request: AskedRequest, actionId: 'approve' | 'reject' = 'approve', more: { team?: string } = {}): Promise<Reply> {
  return send(slack.pressed({ user: chatUser, value: await valueOf(request), actionId, ...more }));
}

/** What Slack shows the person alone, once it has come. */
async function said(from: number): Promise<JsonObject> {
  const answer = await eventually(async () => {
    if (slack.responses.length <= from) throw new Error('Slack was told nothing yet');
    return slack.responses[from]!;
  });
  expect(answer).toMatchObject({ response_type: 'ephemeral', replace_original: false });
  return answer;
}
const textOf = (answer: JsonObject): string => answer['text'] as string;

describe('a button', () => {
  test.each(['approve', 'reject'] as const)('decides as the person to whom the Slack account is linked: %s', async (actionId) => {
    await linked(admin);
    const request = await asked();
    const [before, began] = [slack.responses.length, performance.now()];
    const reply = await press(request, actionId);
    expect([reply.status, reply.body]).toEqual([200, undefined]);
    expect(performance.now() - began).toBeLessThan(3_000);
    const status = actionId === 'approve' ? 'approved' : 'rejected';
    expect(await requestOf(server, request.id)).toMatchObject({ status, decided_by: admin.id });
    expect(textOf(await said(before))).toMatch(actionId === 'approve' ? /approval counts/ : /rejected/);
    const entry = (await auditOf(server, request.agent.id)).find(({ event }) => event === `hitl.${status}`)!;
    expect([entry.actorId, await viaOf(server, entry.id)]).toEqual([admin.id, 'chat']);
  });

  test('links hold for the secret under which they were made: whoever sets another one presses as nobody', async () => {
    await linked(admin);
    const request = await asked();
    const own = 'a-secret-of-an-administrators-own';
    const settings = { webhookUrl: slack.webhookUrl, signingSecret: own };
    (await admin.client.put('/api/v1/notifications/config/slack', { enabled: true, settings })).expect(200);
    const body = slack.pressed({ user: chatUser, value: await valueOf(request) });
    expect((await send(body, signedBySlack(own, body))).status).toBe(200);
    expect(await statusOf(request.id)).toBe('pending');
  });

  test('is obeyed once: the same call again is 409', async () => {
    await linked(admin);
    const request = await asked({ grant: { quorum: { approvals: 2 } } });
    const body = slack.pressed({ user: chatUser, value: await valueOf(request) });
    const headers = slack.signed(body);
    const replies = await Promise.all([send(body, headers), send(body, headers), send(body, headers)]);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    (await send(body, headers)).expect(409, 'CONFLICT');
  });

  test.each<[string, (body: string) => Record<string, string>]>([
    ['by another secret', (body) => signedBySlack('another secret', body)],
    ['over other bytes', (body) => slack.signed(`${body}&more=1`)],
    ['six minutes ago', (body) => slack.signed(body, new Date(Date.now() - 360_000))],
    ['six minutes ahead', (body) => slack.signed(body, new Date(Date.now() + 360_000))],
    ['not at all', () => ({ 'content-type': 'application/x-www-form-urlencoded' })],
  ])('is refused where it is signed %s', async (_what, headers) => {
    await linked(admin);
    const request = await asked();
    const body = slack.pressed({ user: chatUser, value: await valueOf(request) });
    (await send(body, headers(body))).expect(401, 'UNAUTHENTICATED');
    expect(await statusOf(request.id)).toBe('pending');
  });

  test('of a request that is not there is refused like one that is not signed', async () => {
    const value = JSON.stringify({ request: newId('hitl'), digest: '0'.repeat(64) });
    (await send(slack.pressed({ user: chatUser, value }))).expect(401, 'UNAUTHENTICATED');
  });

  test.each<[string, string]>([
    ['nothing', ''], ['no payload', 'other=1'], ['no JSON', 'payload=%7B'], ['a payload of nothing', 'payload=%7B%7D'],
    ['a field twice', 'payload=%7B%7D&payload=%7B%7D'], ['no object', 'payload=7'], ['NUL', 'payload=%22%00%22'],
  ])('is 400 where it says %s', async (_what, body) => {
    (await send(body)).expect(400, 'VALIDATION_FAILED');
  });

  test('of a value that names nothing is 400; JSON instead of a form is 415; a link decides nothing', async () => {
    (await send(slack.pressed({ user: chatUser, value: 'x' }))).expect(400);
    (await anonymous(server).post(CALLBACK, { payload: {} })).expect(415);
    (await send(slack.pressed({ user: chatUser, value: '', actionId: 'open_approve' }))).expect(200);
  });

  test('is 403, told in the chat, for whoever may not decide', async () => {
    await linked(await person('viewer'));
    const before = slack.responses.length;
    const request = await asked();
    (await press(request)).expect(403, 'FORBIDDEN');
    expect(textOf(await said(before))).toMatch(/Nothing is decided: The role viewer may not/);
    const theirs = await asked({ context: { on_behalf_of: admin.email } });
    await server.sql('delete from chat_accounts where organization_id = $1', [organizationId]);
    await linked(admin);
    await person('admin');
    (await press(theirs)).expect(403, 'SELF_APPROVAL');
    expect(textOf(await said(before + 1))).toMatch(/Somebody else has to approve/);
    expect([await statusOf(request.id), await statusOf(theirs.id)]).toEqual(['pending', 'pending']);
  });

  test('under strict separation counts only where the account was linked before the request was made', async () => {
    (await aPerson(server, 'owner', { organizationId }).then((owner) =>
      owner.client.patch(`/api/v1/organizations/${organizationId}`, { settings: { separationOfDuties: 'strict' } }))).expect(200);
    const request = await asked();
    await linked(admin, 0);
    (await press(request)).expect(403, 'NOT_ELIGIBLE');
    await server.sql(`update chat_accounts set created_at = created_at - interval '1 hour' where organization_id = $1`, [organizationId]);
    (await press(request)).expect(200);
    expect(await statusOf(request.id)).toBe('approved');
  });

  test('says what stands where it comes too late: decided, edited, stopped', async () => {
    await linked(admin);
    const colleague = await person('admin');
    const before = slack.responses.length;
    const decided = await asked();
    (await approveBy(colleague, decided)).expect(200);
    (await press(decided)).expect(200);
    expect(textOf(await said(before))).toMatch(/Nothing is decided: The request is approved/);
    const edited = await asked({ grant: { quorum: { approvals: 2 } } });
    const body = slack.pressed({ user: chatUser, value: await valueOf(edited) });
    (await approveBy(colleague, edited, { editedInput: { to: 'b@example.org' } })).expect(200);
    (await send(body)).expect(200);
    expect(textOf(await said(before + 1))).toMatch(/it was edited/);
    const other = await asked();
    const value = JSON.stringify({ request: other.id, digest: '0'.repeat(64) });
    (await send(slack.pressed({ user: chatUser, value }))).expect(200);
    expect(textOf(await said(before + 2))).toMatch(/not the action that you were shown/);
    expect([await statusOf(edited.id), await statusOf(other.id)]).toEqual(['pending', 'pending']);
  });

  test('decides for nobody whose account is closed, or who is somebody of another workspace or organization', async () => {
    await linked(admin);
    const request = await asked();
    (await press(request, 'approve', { team: 'T0OTHER' })).expect(200);
    const elsewhere = await anOrganization(server);
    const theirs = await aRequest(server, { organizationId: elsewhere });
    (await press(theirs)).expect(200);
    await closeAccount(server, admin);
    (await press(request)).expect(200);
    expect([await statusOf(request.id), await statusOf(theirs.id)]).toEqual(['pending', 'pending']);
  });

  test('is answered at addresses of Slack alone', async () => {
    const request = await asked();
    const elsewhere = await startReceiver();
    try {
      const { port } = new URL(elsewhere.url);
      const lookalike = `http://hooks.slack.com@127.0.0.1:${port}/`;
      for (const address of [elsewhere.url, `http://localhost:${port}/`, lookalike, 'http://x', 'no address']) {
        const payload = JSON.parse(new URLSearchParams(slack.pressed({ user: chatUser, value: await valueOf(request) })).get('payload')!) as
          JsonObject;
        (await send(new URLSearchParams({ payload: JSON.stringify({ ...payload, response_url: address }) }).toString())).expect(200);
      }
      // What is said later has come: what was said earlier elsewhere would have, too.
      const before = slack.responses.length;
      await press(request);
      await said(before);
      expect([slack.responses.length, elsewhere.requests]).toEqual([before + 1, []]);
    } finally {
      await elsewhere.close();
    }
  });
});

describe('linking', () => {
  const linkOffered = async (request: AskedRequest): Promise<string> => {
    const before = slack.responses.length;
    (await press(request)).expect(200);
    const url = /"url":"([^"]+)"/.exec(JSON.stringify(await said(before)))![1]!;
    return `${originOf(server)}${url.slice(new URL(url).origin.length)}`;
  };
  const links = async (browser: Browser, address: string) => {
    const form = formsOf(await browser.visit(address))[0]!;
    return browser.visit(form.action, { form: form.fields });
  };

  test('is asked for by a press, said on a page by the person themselves, and lets them decide', async () => {
    const request = await asked();
    const address = await linkOffered(request);
    expect(await statusOf(request.id)).toBe('pending');
    const stranger = await new Browser().visit(address, { follow: 0 });
    expect(stranger.status).toBe(303);
    expect(stranger.headers.get('location')).toMatch(/^\/sign-in\?returnTo=%2Fchat-accounts/);
    const browser = await signedIn(server, admin);
    const shown = await browser.visit(address);
    expect(wordsOf(shown)).toMatch(new RegExp(`somebody ${chatUser}.*stand-in ${slack.team}.*The admin , Harbour`));
    expect((await admin.client.get(ACCOUNTS)).expect(200).body).toEqual({ chatAccounts: [], total: 0 });
    expect(wordsOf(await links(browser, address))).toContain('Linked');
    const { chatAccounts } = (await admin.client.get<{ chatAccounts: { id: string }[] }>(ACCOUNTS)).expect(200).body;
    expect(chatAccounts).toEqual([expect.objectContaining({ chat: 'slack', workspace: slack.team, chatUser })]);
    (await press(request)).expect(200);
    expect(await statusOf(request.id)).toBe('approved');
    const { id } = chatAccounts[0]!;
    const stranger2 = await person('admin');
    (await stranger2.client.delete(`${ACCOUNTS}/${id}`)).expect(404);
    (await admin.client.delete(`${ACCOUNTS}/${id}`)).expect(204);
    const next = await asked();
    (await press(next)).expect(200);
    expect(await statusOf(next.id)).toBe('pending');
    const owner = await person('owner');
    const entries = (await owner.client.get('/api/v1/audit', { query: { limit: 500 } })).expect(200).list('entries') as
      { event: string; actorId: string; metadata: Record<string, unknown> }[];
    expect(entries.filter(({ event }) => event.startsWith('auth.chat')).map(({ event, actorId, metadata }) =>
      [event, actorId, metadata['chatAccountId']])).toEqual([['auth.chat_unlinked', admin.id, id], ['auth.chat_linked', admin.id, id]]);
  });

  test('takes each link once, for ten minutes, from the organization, and by a form of ours', async () => {
    const address = await linkOffered(await asked());
    const text = new URL(address).searchParams.get('link')!;
    const browser = await signedIn(server, admin);
    const form = formsOf(await browser.visit(address))[0]!;
    const post = (fields: Record<string, string>) =>
      browser.visit(`${originOf(server)}/chat-accounts/link`, { form: { ...form.fields, ...fields } });
    expect((await post({ formToken: '' })).status).toBe(403);
    expect((await post({ link: `${text.slice(0, -4)}AAAA` })).status).toBe(400);
    expect((await post({ link: '' })).status).toBe(400);
    const stranger = await signedIn(server, await aPerson(server, 'owner', { organizationId: await anOrganization(server) }));
    expect((await stranger.visit(address)).status).toBe(400);
    expect((await post({})).status).toBe(200);
    const again = await post({});
    expect([again.status, wordsOf(again)]).toEqual([409, expect.stringMatching(/The link was used/)]);
    const other = await linkOffered(await asked()).catch(() => undefined);
    expect(other).toBeUndefined();
    expect((await admin.client.get(ACCOUNTS)).expect(200).number('total')).toBe(1);
  });

  test('gives a Slack account to one person, and to the next once the account of the first is closed', async () => {
    const request = await asked();
    const [first, second] = [await linkOffered(request), await linkOffered(request)];
    expect((await links(await signedIn(server, admin), first)).status).toBe(200);
    const colleague = await person('admin');
    const refused = await links(await signedIn(server, colleague), second);
    expect([refused.status, wordsOf(refused)]).toEqual([409, expect.stringMatching(/linked already/)]);
    await closeAccount(server, admin);
    expect((await links(await signedIn(server, colleague), await linkOffered(request))).status).toBe(200);
  });
});
