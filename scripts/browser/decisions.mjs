// People decide on their pages, with scripts switched off; and machines that open each link of a mail and submit every form as it stands
// decide nothing. The server is the built one, on a database of its own.
import { randomBytes } from 'node:crypto';
import { prepareOrExit } from '../prepare.mjs';
import { askedIn } from './asked-requests.mjs';
import { taker } from './chromium.mjs';
import { asRoot, invited, judgePage } from './sign-in-steps.mjs';

const PASSWORD = 'lantern orbit gravel nine';
const SCANNED = 20;

export async function decisionsInBrowser(chromium, judge, { pictures }) {
  prepareOrExit({ development: true });
  const { startOwnServer } = await import('../../dist/demo/own-server.js');
  const stops = [];
  const secret = (bytes) => randomBytes(bytes).toString('base64');
  const secrets = { JWT_SECRET: secret(48), ENCRYPTION_KEY: secret(32), AUDIT_SIGNING_KEY: secret(32), LOG_LEVEL: 'error' };
  try {
    const started = await startOwnServer(new AbortController().signal, (stop) => stops.push(stop), secrets);
    const server = { ...started, origin: `http://localhost:${new URL(started.url).port}` };
    const context = { chromium, judge, take: taker(pictures) };
    const asked = await askedIn(server);
    await byPage(context, server, asked);
    await byMail(context, server, asked);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

const statusOf = async (server, id) => (await asRoot(server, 'GET', `/api/v1/hitl/${id}`)).status;

/** From the link in a message to the decision, by way of the sign-in page. */
async function byPage(context, server, { request }) {
  const { chromium, judge, take } = context;
  const link = await invited(server, 'grace@example.test', { name: 'Grace Hopper', role: 'owner' });
  const page = await chromium.page();
  await page.send('Emulation.setScriptExecutionDisabled', { value: true });
  await page.go(link);
  await page.type('#new-password', PASSWORD);
  await page.click('[data-main]');
  await page.says('Where you are signed in');
  await page.click('form[action$=sign-out] button');
  await page.says('You are signed out.');

  const [first, rejected, barred] = [await request(), await request(), await request({ onBehalfOf: 'grace@example.test', quorum: true })];
  await page.go(`${server.origin}/hitl/${first}/approve`);
  await page.type('#email', 'grace@example.test');
  await page.type('#password', PASSWORD);
  await page.click('main form[action="/sign-in"] button[type=submit]');
  await page.says('Your decision');
  const isWide = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
  judge('the page is led back to after signing in, and fits its window', !isWide, 'it is wider');
  await take(page, 'decision');
  await page.type('#note', 'Agreed with the harbour master.');
  await page.click('button[value=approve]');
  await page.says('Your approval counts.');
  judge('it is approved by the page', (await statusOf(server, first)) === 'approved', await statusOf(server, first));
  await take(page, 'decision-approved');

  await page.go(`${server.origin}/hitl/${rejected}/reject`);
  await take(page, 'decision-reject');
  await page.click('button[value=reject]');
  await page.says('It is rejected.');
  judge('it is rejected by the page', (await statusOf(server, rejected)) === 'rejected', await statusOf(server, rejected));
  await take(page, 'decision-rejected');

  await page.go(`${server.origin}/hitl/${barred}/approve`);
  await page.leave(() => page.click('button[value=approve]'));
  await page.says('Break the glass');
  await page.click('section:last-of-type summary');
  await take(page, 'decision-barred');
  await page.type('#reason', 'The harbour is on fire.');
  await page.click('button.bad');
  await page.says('the glass was broken');
  judge('an owner breaks the glass', (await statusOf(server, barred)) === 'approved', await statusOf(server, barred));
  judgePage(context, 'by page', page, [server.origin]);
}

/** A machine that reads mail opens each link with scripts on, and submits every form as it stands; then the recipient decides. */
async function byMail(context, server, { mailed }) {
  const { chromium, judge, take } = context;
  const requests = [];
  for (let i = 0; i < SCANNED; i++) requests.push(await mailed());
  const machine = await chromium.page();
  for (const { approve, reject } of requests) {
    for (const address of [approve, reject]) {
      await machine.go(address, "document.querySelector('#note')");
      for (const how of ['submit', 'requestSubmit']) {
        const count = await machine.evaluate('document.forms.length');
        for (let at = 0; at < count; at++) {
          await machine.evaluate(`HTMLFormElement.prototype.${how}.call(document.forms[${at}])`);
          await machine.until("document.readyState === 'complete' && !!document.querySelector('main')");
        }
      }
    }
  }
  const states = await Promise.all(requests.map(({ id }) => statusOf(server, id)));
  judge(`${2 * SCANNED} links are opened and their forms submitted by a machine: nothing is decided`,
    states.every((status) => status === 'pending'), states.join(' '));

  const { id, approve } = requests[0];
  const page = await chromium.page();
  await page.send('Emulation.setScriptExecutionDisabled', { value: true });
  await page.go(approve);
  await take(page, 'decision-by-mail');
  await page.click('input[value=approve]');
  await page.click('button[type=submit]');
  await page.says('Your approval counts.');
  judge('the recipient decides by the same link', (await statusOf(server, id)) === 'approved', await statusOf(server, id));
  await page.go(approve);
  await page.says('Approve, reject and look after what your agents do.');
  judge('a second time it leads to the sign-in page', true);
  judgePage(context, 'by mail', page, [server.origin]);
}
