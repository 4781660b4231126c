import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { aPerson, anOrganization, type BuiltPerson } from '../builders/people.js';
import { aRequest, digestOf } from '../builders/requests.js';
import { Browser } from '../http/browser.js';
import { originOf } from '../builders/tenants.js';
import { inParallel } from '../proofs/in-lanes.js';
import { startServer, type TestServer } from '../servers/server.js';
import { formsOf, type MailLinker, pageOf, signedIn, startMailLinker } from './decision-visits.js';

const LANES = 4;

/**
 * Machines that read mail open every link and send every form of its page back as it came; so do machines that open links in the browser
 * of somebody who is signed in. Nothing is decided, and each link stays good.
 *
 * @param visits how often links are opened in all, by GET and HEAD in turn
 */
export function judgeScanners(visits: number): void {
  let server: TestServer;
  let linker: MailLinker;
  let admin: BuiltPerson;

  beforeAll(async () => {
    server = await startServer();
    linker = await startMailLinker(server);
    admin = await aPerson(server, 'admin', { organizationId: await anOrganization(server) });
    (await admin.client.patch(`/api/v1/organizations/${admin.organizationId}`, { settings: { decideByMail: true } })).expect(200);
  });
  afterAll(async () => {
    await linker.close();
    await server.stop();
  });

  const requestFor = async () => {
    const { organizationId } = admin;
    const { id } = await aRequest(server, { organizationId });
    const { approve, reject } = await linker.links({ id, organizationId, digest: await digestOf(server, { id }) }, admin.id);
    return { id, links: [approve, reject, pageOf(server, id), pageOf(server, id, 'reject')] };
  };
  const statuses = async () => (await server.sql<{ status: string; spent: string }>(
    `select q.status, (select count(*) from mail_tokens t where t.hitl_request_id = q.id and t.spent_at is not null) as spent
     from hitl_requests q`)).map(({ status, spent }) => `${status} ${spent}`);

  test(`${visits} visits of links decide nothing and use nothing up`, async () => {
    const requests = await inParallel(LANES, Array.from({ length: Math.ceil(visits / 16) }), requestFor);
    const links = requests.flatMap((request) => request.links);
    const seen = await inParallel(LANES, Array.from({ length: visits }, (_, i) => i), async (i) => {
      const answer = await fetch(links[i % links.length]!, {
        method: Math.floor(i / links.length) % 2 === 0 ? 'GET' : 'HEAD', redirect: 'manual', headers: { accept: 'text/html' },
      });
      await answer.arrayBuffer();
      return answer.status;
    });
    expect(new Set(seen)).toEqual(new Set([200, 303]));
    expect(new Set(await statuses())).toEqual(new Set(['pending 0']));
  });

  test('every form of every page comes back as it was: nothing is decided, and a person decides by the same link after that', async () => {
    const requests = await inParallel(LANES, Array.from({ length: Math.max(4, Math.ceil(visits / 100)) }), requestFor);
    const session = await signedIn(server, admin);
    let sent = 0;
    for (const { links } of requests) {
      for (const link of links) {
        // By nobody, and in the browser of somebody who is signed in.
        for (const browser of [new Browser(), session]) {
          const shown = await browser.visit(link);
          for (const { action, fields } of formsOf(shown).filter((form) => form.action.startsWith('/hitl/'))) {
            const { status } = await browser.visit(`${originOf(server)}${action}`, { form: fields });
            expect([action, status]).toEqual([action, 400]);
            sent++;
          }
        }
      }
    }
    expect(sent).toBe(requests.length * 6);
    expect(new Set(await statuses())).toEqual(new Set(['pending 0']));
    const [{ id, links }] = requests as [(typeof requests)[0]];
    const browser = new Browser();
    const form = formsOf(await browser.visit(links[0]!))[0]!;
    expect((await browser.visit(form.action, { form: { ...form.fields, decision: 'reject' } })).status).toBe(200);
    expect(await server.sql('select status from hitl_requests where id = $1', [id])).toEqual([{ status: 'rejected' }]);
  });
}
