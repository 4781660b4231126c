// The SDK in a browser, by the session of who has signed in there: the bundle that an application would ship (scripts/sdk/bundle.mjs), on a
// page of the service's own. And by an agent's token on a page of another origin, which the service lets call.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { preparePeersOrExit, prepareOrExit } from '../prepare.mjs';
import { bundled } from '../sdk/bundle.mjs';
import { installSdk, packSdk } from '../sdk/pack.mjs';
import { asRoot, invited, judgePage } from './sign-in-steps.mjs';

const PASSWORD = 'lantern orbit gravel nine';

export async function sdkInBrowser(chromium, judge) {
  prepareOrExit({ development: true });
  preparePeersOrExit();
  const { startOwnServer } = await import('../../dist/demo/own-server.js');
  const stops = [];
  const secret = (bytes) => randomBytes(bytes).toString('base64');
  const project = mkdtempSync(join(tmpdir(), 'countersign-project-'));
  stops.push(async () => rmSync(project, { recursive: true, force: true }));
  try {
    const elsewhere = await pageElsewhere(stops);
    const started = await startOwnServer(new AbortController().signal, (stop) => stops.push(stop), {
      JWT_SECRET: secret(48), ENCRYPTION_KEY: secret(32), AUDIT_SIGNING_KEY: secret(32), LOG_LEVEL: 'error', CORS_ORIGINS: elsewhere,
    });
    const server = { ...started, origin: `http://localhost:${new URL(started.url).port}` };
    installSdk(packSdk(project), project);
    const { code } = await bundled(project, 'whole');
    const context = { chromium, judge, code };
    await bySession(context, server);
    await byToken(context, server, elsewhere);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** A page that is not the service's. @returns its origin */
async function pageElsewhere(stops) {
  const server = createServer((_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Elsewhere</title>'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(async () => server.close());
  return `http://localhost:${server.address().port}`;
}

/** Our pages allow scripts of their own files alone, so the bundle comes past that rule, as a file of the page would. */
async function load(page, code) {
  const module = `URL.createObjectURL(new Blob([${JSON.stringify(code)}], { type: 'text/javascript' }))`;
  await page.evaluate(`import(${module}).then((sdk) => { globalThis.countersign = sdk; })`);
  await page.until("typeof globalThis.countersign?.Countersign === 'function'");
}

/** @returns what the expression comes to, or the error's code */
const told = (page, expression) =>
  page.evaluate(`(async () => ${expression})().catch((error) => ({ code: error.code, message: String(error) }))`);

async function bySession({ chromium, judge, code }, server) {
  const { token, agent } = await asRoot(server, 'POST', '/api/v1/agents',
    { name: 'mailer', grants: [{ capability: 'email.send', hitlMode: 'propose' }] });
  const link = await invited(server, 'ada@example.test', { name: 'Ada Lovelace', role: 'owner' });
  const page = await chromium.page();
  await page.send('Page.setBypassCSP', { enabled: true });
  await page.go(link);
  await page.type('#new-password', PASSWORD);
  await page.click('[data-main]');
  await page.says('Where you are signed in');
  await load(page, code);
  await page.evaluate('globalThis.sdk = new countersign.Countersign({ url: location.origin, credential: { session: true } })');
  const me = await told(page, 'sdk.users.me()');
  judge('the session is who calls', JSON.stringify(me).includes('ada@example.test'), JSON.stringify(me));

  await page.evaluate(`globalThis.seen = []; globalThis.ending = new AbortController();
    globalThis.following = (async () => {
      for await (const { event, data } of sdk.hitl.events({ signal: ending.signal })) seen.push(event + ' ' + data.id);
    })(); undefined`);
  // What is asked before the stream stands is not told: asked until one is.
  const asked = await asking(server, token, () => page.evaluate('seen.length > 0'));
  await page.until(`seen.includes('hitl.created ' + ${JSON.stringify(asked)})`);
  judge('events come as they happen', true);
  const decided = await told(page, `{
    const shown = await sdk.hitl.get(${JSON.stringify(asked)});
    return (await sdk.hitl.approve(shown, { note: 'from the browser' })).request.status;
  }`);
  judge('a person approves what was shown', decided === 'approved', JSON.stringify(decided));
  await page.until(`seen.includes('hitl.approved ' + ${JSON.stringify(asked)})`);
  const again = await told(page, `sdk.hitl.reject({ id: ${JSON.stringify(asked)}, actionDigest: '0'.repeat(64) })`);
  judge('a refusal is an error with its code', /^HITL_(ALREADY_DECIDED|DIGEST_MISMATCH)$/.test(again.code), JSON.stringify(again));
  const ended = await told(page, '(ending.abort(), await following, "over")');
  judge('the stream ends without an error', ended === 'over', JSON.stringify(ended));
  const { executions } = await asRoot(server, 'GET', `/api/v1/executions?agentId=${agent.id}&status=executed`);
  judge('it ran, once', executions.length === 1, JSON.stringify(executions));
  judgePage({ judge }, 'by session', page, [server.origin]);
}

/** Asks until it is heard of. @returns the id of the last request */
async function asking({ url }, token, isHeard) {
  for (let n = 0; ; n++) {
    const answer = await fetch(`${url}/api/v1/execute`, {
      method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ capability: 'email.send', input: { n } }),
    });
    const { hitlRequestId } = await answer.json();
    for (let waited = 0; waited < 20; waited++) {
      if (await isHeard()) return hitlRequestId;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function byToken({ chromium, judge, code }, server, origin) {
  const { token } = await asRoot(server, 'POST', '/api/v1/agents', { name: 'searcher', grants: [{ capability: 'web.search' }] });
  const page = await chromium.page();
  await page.go(origin);
  await load(page, code);
  const options = JSON.stringify({ url: server.origin, credential: token });
  const said = await told(page, `{
    const sdk = new countersign.Countersign(${options});
    const { status } = await sdk.execute('web.search', { query: 'steel' }, { idempotencyKey: 'once' });
    const refused = await sdk.execute('email.send').catch((error) => ({ code: error.code, hasId: typeof error.requestId === 'string' }));
    const wrong = await sdk.execute('web.search', { n: NaN }).catch(({ code }) => code);
    const search = sdk.governed(() => 'did it', 'web.search');
    const did = await search({ query: 'steel' });
    return { status, refused, wrong, did, again: await search({ query: 'steel' }, { idempotencyKey: 'one' }) };
  }`);
  const wanted = {
    status: 'executed', refused: { code: 'CAPABILITY_NOT_GRANTED', hasId: true }, wrong: 'VALIDATION_FAILED',
    did: 'did it', again: 'did it',
  };
  judge('an agent calls from a page elsewhere', JSON.stringify(said) === JSON.stringify(wanted), JSON.stringify(said));
  const replayed = await told(page, `{
    const sdk = new countersign.Countersign(${options});
    return sdk.governed(() => 'did it', 'web.search')({ query: 'steel' }, { idempotencyKey: 'one' });
  }`);
  judge('a licence is given once there, too', replayed.code === 'ALREADY_EXECUTED', JSON.stringify(replayed));
  judgePage({ judge }, 'by token', page, [origin, server.origin]);
}
