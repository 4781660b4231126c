import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { anonymous, asRoot } from '../../support/http/actors.js';
import { Browser } from '../../support/http/browser.js';
import { aPerson, anOrganization, aStop, type BuiltPerson, type Role } from '../../support/builders/people.js';
import { approveBy, aRequest, type AskedTerms, digestOf } from '../../support/builders/requests.js';
import { requestOf } from '../../support/builders/gate.js';
import { originOf } from '../../support/builders/tenants.js';
import { auditOf } from '../../support/log/entries.js';
import { decideOn, formsOf, pageOf, signedIn, viaOf, wordsOf } from '../../support/notifications/decision-visits.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let organizationId: string;
let admin: BuiltPerson;

beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());
beforeEach(async () => {
  organizationId = await anOrganization(server, { name: 'Harbour' });
  [admin] = await Promise.all([person('admin', 'Ada Admin'), person('owner', 'Olga Owner')]);
});

const person = (role: Role, name: string) => aPerson(server, role, { organizationId, name });
const asked = (terms: Partial<AskedTerms> = {}) => aRequest(server, { organizationId, ...terms });
const statusOf = async (id: string) => (await requestOf(server, id)).status;

describe('the page', () => {
  test('shows what would run and who asks, with every character, and nothing that runs', async () => {
    const input = { to: '\u202egnp.exe', note: '<script>alert(1)</script>', zero: 'a\u200bb', long: 'x'.repeat(20_000), last: 'the end' };
    const { id, agent } = await asked({ input, context: { on_behalf_of: 'boss@example.org' } });
    const browser = await signedIn(server, admin);
    for (const side of ['approve', 'reject'] as const) {
      const page = await browser.visit(pageOf(server, id, side));
      const policies = [page.headers.get('referrer-policy'), page.headers.get('cache-control')];
      expect([page.status, ...policies]).toEqual([200, 'same-origin', 'no-store']);
      expect(page.headers.get('content-security-policy')).toBe(
        "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'");
      expect(page.text).not.toMatch(/<script|<style| style=| on[a-z]+=|https?:|[\u202e\u200b]/);
      const words = wordsOf(page);
      for (const shown of [
        '⟦U+202E⟧gnp.exe', '<script>alert(1)</script>', 'a⟦U+200B⟧b', 'x'.repeat(20_000), 'the end', 'email.send', agent.id,
        'boss@example.org', await digestOf(server, { id }), 'Ada Admin', 'Harbour', 'limited', 'Also asked Olga Owner', '29 minutes',
        'The agent itself',
      ]) {
        expect(words).toContain(shown);
      }
      expect(formsOf(page)).toHaveLength(1);
      expect(page.text.indexOf('value="approve"') < page.text.indexOf('value="reject"')).toBe(side === 'approve');
    }
    expect(await statusOf(id)).toBe('pending');
  });

  test('leads whoever is not signed in to the sign-in page, and back; it says nothing of the request', async () => {
    const { id } = await asked();
    for (const address of [pageOf(server, id), pageOf(server, id, 'reject'), pageOf(server, id.replace(/.$/, '0'))]) {
      const page = await new Browser().visit(address, { follow: 0 });
      const path = encodeURIComponent(new URL(address).pathname);
      expect([page.status, page.headers.get('location'), page.text]).toEqual([303, `/sign-in?returnTo=${path}`, '']);
    }
    expect((await new Browser().visit(pageOf(server, 'hitl_x'), { follow: 0 })).status).toBe(404);
  });

  test('is not there for people of another organization, and has no form for whoever may not decide', async () => {
    const { id } = await asked();
    const stranger = await signedIn(server, await aPerson(server, 'owner', { organizationId: await anOrganization(server) }));
    expect((await stranger.visit(pageOf(server, id))).status).toBe(404);
    const viewer = await (await signedIn(server, await person('viewer', 'Vera'))).visit(pageOf(server, id));
    expect([viewer.status, formsOf(viewer).length]).toEqual([200, 0]);
    expect(wordsOf(viewer)).toContain('The role viewer decides nothing here.');
  });

  test('says how it ended', async () => {
    const { id } = await asked();
    (await approveBy(admin, { id }, { note: 'looks right\nto me' })).expect(200);
    const page = await (await signedIn(server, await person('member', 'Mia'))).visit(pageOf(server, id));
    expect(wordsOf(page)).toMatch(/Decided .*Approved by Ada Admin.*looks right to me/);
    expect([page.status, formsOf(page).length]).toEqual([200, 0]);
  });
});

describe('the form', () => {
  test.each(['approve', 'reject'] as const)('decides: %s, as the person, by the page', async (decision) => {
    const { id, agent } = await asked();
    const page = await decideOn(await signedIn(server, admin), pageOf(server, id, 'reject'), { decision, note: ' first\r\nsecond ' });
    expect(page.status).toBe(200);
    const status = decision === 'approve' ? 'approved' : 'rejected';
    expect(wordsOf(page)).toMatch(decision === 'approve' ? /Approved by Ada Admin.*The agent may act now/ : /Rejected by Ada Admin/);
    expect(await requestOf(server, id)).toMatchObject({ status, decided_by: admin.id, decision: { note: 'first\nsecond', by: 'human' } });
    const entry = (await auditOf(server, agent.id)).find(({ event }) => event === `hitl.${status}`);
    expect(entry).toMatchObject({ actorId: admin.id });
    expect(await viaOf(server, entry!.id)).toBe('page');
  });

  test('decides nothing as it stands, without a token, with that of another session, or from another site', async () => {
    const { id } = await asked();
    const browser = await signedIn(server, admin);
    const shown = await browser.visit(pageOf(server, id));
    const [{ action, fields }] = formsOf(shown) as [ReturnType<typeof formsOf>[0]];
    const other = formsOf(await (await signedIn(server, admin)).visit(pageOf(server, id)))[0]!.fields['formToken']!;
    const tries: [number, Record<string, string>, Record<string, string>?][] = [
      [400, {}], [400, { decision: 'perhaps' }], [400, { decision: 'approve', digest: '' }],
      [400, { decision: 'approve', note: 'x'.repeat(4_001) }], [400, { decision: 'approve', note: 'a\0b' }],
      [403, { decision: 'approve', formToken: '' }], [403, { decision: 'approve', formToken: other }],
      [403, { decision: 'approve' }, { origin: 'null' }],
      [403, { decision: 'approve' }, { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
      [409, { decision: 'approve', digest: '0'.repeat(64) }],
    ];
    for (const [wanted, change, headers = {}] of tries) {
      const { status } = await browser.visit(`${originOf(server)}${action}`, { form: { ...fields, ...change }, headers });
      expect([change, status]).toEqual([change, wanted]);
    }
    const origin = originOf(server);
    const gone = await new Browser().visit(`${origin}${action}`, { form: { ...fields, decision: 'approve' }, headers: { origin } });
    expect(gone.status).toBe(403);
    (await anonymous(server).post(action, { decision: 'approve' })).expect(403);
    expect(await statusOf(id)).toBe('pending');
  });

  test('says what stands now: decided, edited, expired, stopped, cancelled meanwhile', async () => {
    const colleague = await person('admin', 'Carl');
    const browser = await signedIn(server, admin);
    const late = async (between: (asked: { id: string; agentId: string }) => Promise<unknown>, terms: Partial<AskedTerms> = {}) => {
      const { id, agent } = await asked(terms);
      const [form] = formsOf(await browser.visit(pageOf(server, id)));
      await between({ id, agentId: agent.id });
      const page = await browser.visit(`${originOf(server)}${form!.action}`, { form: { ...form!.fields, decision: 'approve' } });
      return { id, status: page.status, words: wordsOf(page), forms: formsOf(page).length };
    };
    const decided = await late(async ({ id }) => (await colleague.client.post(`/api/v1/hitl/${id}/reject`, {})).expect(200));
    expect(decided).toMatchObject({ status: 409, forms: 0, words: expect.stringMatching(/The request is rejected.*Rejected by Carl/) });
    const edited = await late(
      async ({ id }) => (await approveBy(colleague, { id }, { editedInput: { to: 'b@example.org' } })).expect(200),
      { grant: { quorum: { approvals: 2 } } });
    expect(edited).toMatchObject({ status: 409, forms: 1, words: expect.stringMatching(/edited.*b@example.org.*a@example.org/) });
    const expired = await late(({ id }) =>
      server.sql(`update hitl_requests set expires_at = clock_timestamp() - interval '1 ms', remind_at = null where id = $1`, [id]));
    expect(expired.status).toBe(409);
    expect(expired.words).toMatch(/time to decide is over|Not decided in time/i);
    const stopped = await late(({ agentId }) => aStop(server, organizationId, { agentId }));
    expect(stopped).toMatchObject({ status: 403, forms: 1, words: expect.stringMatching(/A stop holds this agent/) });
    const retired = await late(async ({ agentId }) => (await asRoot(server).post(`/api/v1/agents/${agentId}/deactivate`)).expect(200));
    expect(retired).toMatchObject({ status: 409, words: expect.stringMatching(/The request is cancelled/) });
  });

  test('bars whoever is behind the action, and lets an owner break the glass with a reason', async () => {
    const owner = await person('owner', 'Otto');
    const { id, agent } = await asked({ context: { on_behalf_of: owner.email } });
    const browser = await signedIn(server, owner);
    const barred = await decideOn(browser, pageOf(server, id), { decision: 'approve' });
    expect([barred.status, formsOf(barred).length]).toEqual([403, 2]);
    expect(wordsOf(barred)).toMatch(/Somebody else has to approve.*Break the glass/);
    const form = formsOf(barred)[1]!;
    const short = await browser.visit(`${originOf(server)}${form.action}`, { form: { ...form.fields, note: 'because' } });
    expect([short.status, formsOf(short).length, await statusOf(id)]).toEqual([422, 2, 'pending']);
    const page = await browser.visit(`${originOf(server)}${form.action}`, { form: { ...form.fields, note: 'the harbour is on fire' } });
    expect([page.status, await statusOf(id)]).toEqual([200, 'approved']);
    expect(wordsOf(page)).toContain('the glass was broken');
    expect(await auditOf(server, agent.id)).toEqual(expect.arrayContaining([expect.objectContaining({ event: 'hitl.approved' })]));
  });

  test('counts votes, and shows who gave them', async () => {
    const { id } = await asked({ grant: { quorum: { approvals: 2 } } });
    const first = await decideOn(await signedIn(server, admin), pageOf(server, id), { decision: 'approve', note: 'fine by me' });
    expect([first.status, await statusOf(id)]).toEqual([200, 'pending']);
    const carl = await signedIn(server, await person('admin', 'Carl'));
    expect(wordsOf(await carl.visit(pageOf(server, id)))).toMatch(/Approvals 1 of 2 Approved by Ada Admin.*fine by me/);
    expect((await decideOn(await signedIn(server, admin), pageOf(server, id), { decision: 'approve' })).status).toBe(409);
    expect((await decideOn(carl, pageOf(server, id), { decision: 'approve' })).status).toBe(200);
    expect(await statusOf(id)).toBe('approved');
  });
});
