import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { simpleParser } from 'mailparser';
import { as } from '../../support/http/actors.js';
import { Browser, type Page } from '../../support/http/browser.js';
import { aPerson, anOrganization, type BuiltPerson, closeAccount } from '../../support/builders/people.js';
import { aRequest, type AskedTerms, digestOf } from '../../support/builders/requests.js';
import { requestOf } from '../../support/builders/gate.js';
import { originOf } from '../../support/builders/tenants.js';
import { startReceiver, type Receiver } from '../../support/http/receiver.js';
import { startSmtp, type TestSmtp } from '../../support/http/smtp-server.js';
import { auditOf } from '../../support/log/entries.js';
import {
  decideOn, formsOf, type MailLinker, pageOf, signedIn, startMailLinker, viaOf, wordsOf,
} from '../../support/notifications/decision-visits.js';
import { eventually } from '../../support/running/eventually.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

let server: TestServer;
let linker: MailLinker;
let receiver: Receiver;
let smtp: TestSmtp;
let organizationId: string;
let owner: BuiltPerson;
let admin: BuiltPerson;

beforeAll(async () => {
  [receiver, smtp] = await Promise.all([startReceiver(), startSmtp()]);
  server = await startServer({
    env: { SMTP_HOST: '127.0.0.1', SMTP_PORT: String(smtp.port), SMTP_FROM: 'countersign@example.test' },
  });
  linker = await startMailLinker(server);
});
afterAll(async () => {
  await linker.close();
  await server.stop();
  await Promise.all([receiver.close(), smtp.close()]);
});
beforeEach(async () => {
  organizationId = await anOrganization(server);
  [owner, admin] = await Promise.all([
    aPerson(server, 'owner', { organizationId }), aPerson(server, 'admin', { organizationId, name: 'Ada Admin' }),
  ]);
  await settings({ decideByMail: true });
});

const settings = async (wanted: Record<string, unknown>) =>
  (await owner.client.patch(`/api/v1/organizations/${organizationId}`, { settings: wanted })).expect(200);
const statusOf = async (id: string) => (await requestOf(server, id)).status;
const isPlain = (link: string) => !link.includes('token=');

async function mailed(terms: Partial<AskedTerms> = {}, person: BuiltPerson = admin) {
  const request = await aRequest(server, { organizationId, ...terms });
  const links = await linker.links({ id: request.id, organizationId, digest: await digestOf(server, request) }, person.id);
  return { ...request, ...links };
}

/** The sign-in page, and nothing said of the request. */
function expectSignIn(page: Page, id: string): void {
  const search = `?returnTo=${encodeURIComponent(`/hitl/${id}/approve`)}`;
  expect([page.status, page.url.pathname, page.url.search]).toEqual([200, '/sign-in', search]);
  expect(wordsOf(page)).not.toContain('email.send');
}

describe('a link of a mail', () => {
  test('decides as its recipient, once; its entry says by mail', async () => {
    const { id, agent, approve } = await mailed();
    const browser = new Browser();
    const shown = await browser.visit(approve);
    expect(wordsOf(shown)).toMatch(/Ada Admin/);
    expect(shown.text).not.toMatch(/\schecked/);
    const { action, fields } = formsOf(shown)[0]!;
    const page = await browser.visit(action, { form: { ...fields, decision: 'approve', note: 'by mail' } });
    expect([page.status, wordsOf(page)]).toEqual([200, expect.stringMatching(/Approved by Ada Admin.*by mail/)]);
    expect(await requestOf(server, id)).toMatchObject({ status: 'approved', decided_by: admin.id });
    const entry = (await auditOf(server, agent.id)).find(({ event }) => event === 'hitl.approved')!;
    expect(entry.actorId).toBe(admin.id);
    expect(await viaOf(server, entry.id)).toBe('mail');
    expectSignIn(await new Browser().visit(approve), id);
  });

  test('comes with the mail, for each recipient another one, and decides as them', async () => {
    const { id } = await aRequest(server, { organizationId });
    const linkTo = (person: BuiltPerson) => eventually(async () => {
      const mails = await Promise.all(smtp.mails.filter(({ to }) => to.includes(person.email)).map(({ source }) => simpleParser(source)));
      const link = mails.map(({ text = '' }) => /http\S+\/reject\?token=[\w-]{43}/.exec(text)?.[0]).find((one) => one?.includes(id));
      if (link === undefined) throw new Error(`no link for ${person.email} yet`);
      return `${originOf(server)}${link.slice(new URL(link).origin.length)}`;
    });
    const [mine, theirs] = await Promise.all([linkTo(admin), linkTo(owner)]);
    expect(mine).not.toBe(theirs);
    expect((await decideOn(new Browser(), mine, { decision: 'reject', note: 'not today' })).status).toBe(200);
    expect(await requestOf(server, id)).toMatchObject({ status: 'rejected', decided_by: admin.id });
    // The other link still says how it ended, to its recipient.
    expect(wordsOf(await new Browser().visit(theirs))).toMatch(/Rejected by Ada Admin.*not today/);
  });

  test('rejects too, and waits for what comes of an approval', async () => {
    const rejected = await mailed();
    const answer = await decideOn(new Browser(), rejected.reject, { decision: 'reject' });
    expect([answer.status, await statusOf(rejected.id)]).toEqual([200, 'rejected']);
    const connector = { type: 'http', method: 'POST', url: receiver.url, body: '{input}' };
    (await owner.client.post('/api/v1/capabilities', { name: 'crm.push', description: 'pushes', connector })).expect(201);
    const approved = await mailed({ capability: 'crm.push' });
    expect(wordsOf(await decideOn(new Browser(), approved.approve, { decision: 'approve' }))).toMatch(/Approved by Ada Admin.*It ran/);
    expect(receiver.requests).toHaveLength(1);
  });

  test('decides nothing where a form comes back as it was, and stays good', async () => {
    const { id, approve } = await mailed();
    for (let i = 0; i < 3; i++) {
      const page = await decideOn(new Browser(), approve, {});
      expect([page.status, await statusOf(id)]).toEqual([400, 'pending']);
      expect(formsOf(page)[0]!.fields['token']).toMatch(/^[A-Za-z0-9_-]{43}$/);
    }
    expect((await decideOn(new Browser(), approve, { decision: 'approve' })).status).toBe(200);
  });

  test('of two uses at once, one counts', async () => {
    const { id, approve } = await mailed();
    const visits = await Promise.all(Array.from({ length: 6 }, async () => {
      const browser = new Browser();
      const form = formsOf(await browser.visit(approve))[0]!;
      return { browser, form };
    }));
    const pages = await Promise.all(visits.map(({ browser, form }) =>
      browser.visit(form.action, { form: { ...form.fields, decision: 'approve' }, follow: 0 })));
    expect(pages.map(({ status }) => status).sort()).toEqual([200, 303, 303, 303, 303, 303]);
    expect(await statusOf(id)).toBe('approved');
  });

  test.each<[string, (asked: { id: string; approve: string }) => Promise<unknown>]>([
    ['the setting was switched off', () => settings({ decideByMail: false })],
    ['separation of duties is strict by now', () => settings({ separationOfDuties: 'strict' })],
    ['the account was closed', () => closeAccount(server, admin)],
    ['the request was edited', ({ id }) => server.sql(`update hitl_requests set digest = repeat('0', 64) where id = $1`, [id])],
    ['the request was escalated to administrators', ({ id }) =>
      server.sql(`update hitl_requests set status = 'escalated', escalation_level = 2 where id = $1`, [id])],
    ['its window is over', () => server.sql(`update mail_tokens set expires_at = clock_timestamp()`)],
    ['it was spent', () => server.sql(`update mail_tokens set spent_at = clock_timestamp()`)],
  ])('is none where %s: before it is opened, and between opening and deciding', async (_what, change) => {
    const { id, approve } = await mailed();
    const browser = new Browser();
    const form = formsOf(await browser.visit(approve))[0]!;
    await change({ id, approve });
    expectSignIn(await browser.visit(form.action, { form: { ...form.fields, decision: 'approve' } }), id);
    expectSignIn(await new Browser().visit(approve), id);
    expect(['pending', 'escalated']).toContain(await statusOf(id));
  });

  test('is none for another request, changed, or of another form; and nobody comes in by it elsewhere', async () => {
    const [one, other] = [await mailed(), await mailed()];
    const token = new URL(one.approve).searchParams.get('token')!;
    expectSignIn(await new Browser().visit(`${pageOf(server, other.id)}?token=${token}`), other.id);
    for (const bad of [`${token.slice(0, -1)}${token.endsWith('A') ? 'E' : 'A'}`, '', 'x', `${token}&token=${token}`, '%00'.repeat(43)]) {
      expectSignIn(await new Browser().visit(`${pageOf(server, one.id)}?token=${bad}`), one.id);
    }
    const browser = new Browser();
    const form = formsOf(await browser.visit(one.approve))[0]!;
    expectSignIn(await browser.visit(pageOf(server, other.id), { form: { ...form.fields, decision: 'approve' } }), other.id);
    (await as(server, token).get(`/api/v1/hitl/${one.id}?token=${token}`)).expect(401, 'UNAUTHENTICATED');
    expect([await statusOf(one.id), await statusOf(other.id)]).toEqual(['pending', 'pending']);
  });

  test('gives way to whoever is signed in', async () => {
    const { id, approve } = await mailed();
    const viewer = await signedIn(server, await aPerson(server, 'viewer', { organizationId }));
    expect(formsOf(await viewer.visit(approve))).toEqual([]);
    expect(await statusOf(id)).toBe('pending');
  });

  test('keeps its token to itself: only a digest is stored, and neither log nor page of another origin learns of it', async () => {
    const { approve } = await mailed();
    const token = new URL(approve).searchParams.get('token')!;
    await new Browser().visit(approve);
    expect(server.output()).not.toContain(token);
    const rows = await server.sql<{ row: string }>('select row_to_json(t)::text as row from mail_tokens t');
    expect(rows.filter(({ row }) => row.includes(token))).toEqual([]);
  });
});

describe('links are plain', () => {
  test('for administrators, hardcoded capabilities, a quorum, level 2, strict separation, and where it is off', async () => {
    expect(isPlain((await mailed()).approve)).toBe(false);
    const plain = [
      await mailed({ grant: { hitlMode: 'escalate' } }), await mailed({ capability: 'finance.payment' }),
      await mailed({ grant: { quorum: { approvals: 2 } } }),
    ];
    const level1 = await aRequest(server, { organizationId });
    (await admin.client.post(`/api/v1/hitl/${level1.id}/escalate`, { reason: 'look' })).expect(200);
    const digest = await digestOf(server, level1);
    expect(isPlain((await linker.links({ id: level1.id, organizationId, digest }, admin.id)).approve)).toBe(false);
    (await admin.client.post(`/api/v1/hitl/${level1.id}/escalate`, { reason: 'look' })).expect(200);
    const links = plain.map(({ approve }) => approve);
    links.push((await linker.links({ id: level1.id, organizationId, digest }, admin.id)).approve);
    const elsewhere = await aPerson(server, 'owner', { organizationId: await anOrganization(server) });
    links.push((await mailed({}, elsewhere)).approve);
    await settings({ separationOfDuties: 'strict' });
    links.push((await mailed()).approve);
    await settings({ separationOfDuties: 'standard', decideByMail: false });
    links.push((await mailed()).approve);
    expect(links.filter((link) => !isPlain(link))).toEqual([]);
  });
});
