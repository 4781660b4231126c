// People come in: by invitation and passkey (Chromium's virtual authenticator), by password with scripts switched off, and through a
// real identity provider. The server is the built one, on a database of its own.
import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { prepareOrExit } from '../prepare.mjs';
import { byPasskey } from './by-passkey.mjs';
import { byPassword } from './by-password.mjs';
import { taker } from './chromium.mjs';
import { throughProvider } from './through-provider.mjs';

const ROOT = join(import.meta.dirname, '..', '..');

export async function signInInBrowser(chromium, judge, { pictures }) {
  prepareOrExit({ development: true });
  const { startOwnServer } = await import('../../dist/demo/own-server.js');
  const stops = [];
  const secret = (bytes) => randomBytes(bytes).toString('base64');
  const secrets = { JWT_SECRET: secret(48), ENCRYPTION_KEY: secret(32), AUDIT_SIGNING_KEY: secret(32), LOG_LEVEL: 'error' };
  const start = async (settings = {}) => {
    const server = await startOwnServer(new AbortController().signal, (stop) => stops.push(stop), { ...secrets, ...settings });
    return { ...server, origin: `http://localhost:${new URL(server.url).port}` };
  };
  const context = { chromium, judge, take: taker(pictures) };
  try {
    const [local, provider] = await Promise.all([start(), startProvider(stops)]);
    await byPasskey(context, local);
    await byPassword(context, local);
    const DATABASE_URL = local.databaseUrl();
    const joined = await start({ DATABASE_URL, ROOT_API_KEY: local.key, ...provider.env });
    await provider.ask('serves', [joined.origin]);
    await throughProvider(context, joined, provider);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** The tests' identity provider, a process of its own. */
async function startProvider(stops) {
  const child = fork(join(ROOT, 'test/support/sign-in/oidc-process.mjs'), {
    cwd: ROOT, env: { PATH: process.env.PATH }, execArgv: ['--no-warnings'], stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  const gone = once(child, 'exit');
  stops.push(async () => {
    child.kill();
    await gone;
  });
  const lost = gone.then(() => Promise.reject(new Error('the provider of the tests did not start')));
  lost.catch(() => undefined);
  const [{ issuer, clients: [[id, secret]] }] = await Promise.race([once(child, 'message'), lost]);
  let lastId = 0;
  const ask = (act, ...args) => new Promise((resolve, reject) => {
    const requestId = ++lastId;
    const onAnswer = ({ id: answered, value, failed }) => {
      if (answered !== requestId) return;
      child.off('message', onAnswer);
      if (failed === undefined) resolve(value);
      else reject(new Error(failed));
    };
    child.on('message', onAnswer).send({ id: requestId, act, args });
  });
  return { issuer, ask, env: { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: id, OIDC_CLIENT_SECRET: secret } };
}
