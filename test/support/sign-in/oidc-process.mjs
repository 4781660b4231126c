// A real identity provider (npm oidc-provider) as a process of the tests' own: koa and Jest's module loader need not meet. It is told
// by messages what its users claim, and how it fails; what it says of itself it cannot be made to lie about, so answers of /token are
// signed anew where a test wants them false.
import { createHash, generateKeyPairSync, randomUUID } from 'node:crypto';
import http from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Provider } from 'oidc-provider';
import { changedAnswer, signed } from './oidc-forgery.mjs';
import { Memory } from './oidc-memory.mjs';

const AUDIENCE = 'countersign-api';
const RESOURCE = `https://${AUDIENCE}`;
const SCOPE = 'openid profile email offline_access';
const OURS = ['tenant_id', 'tier', 'role', 'user_id', 'has_subscription', 'managed'];
const CLIENTS = [['countersign', 'secret-of-countersign'], ['other', 'secret-of-the-other-client']];

const newKey = (type, alg) => {
  const { privateKey } = type === 'rsa' ? generateKeyPairSync('rsa', { modulusLength: 2048 }) : generateKeyPairSync(type);
  return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID().slice(0, 8), alg, use: 'sig' };
};

const state = {
  /** Where the application is reached; the first is told of logouts. */
  origins: ['http://localhost:1'],
  keys: [newKey('rsa', 'RS256'), newKey('ed25519', 'EdDSA')],
  accounts: new Map(), disabled: new Set(), current: undefined,
  slow: new Map(), status: new Map(), half: new Set(),
  expiresIn: 600, givesJwt: false, conforms: false, tampering: undefined,
  requests: new Map(), refreshes: new Map(), inFlight: 0, mostInFlight: 0,
};

const server = http.createServer();
const listen = (port) => new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
await listen(0);
const issuer = `http://127.0.0.1:${server.address().port}`;
let provider = build();

function build() {
  const made = new Provider(issuer, {
    adapter: Memory, jwks: { keys: state.keys }, cookies: { keys: ['of-the-tests'] }, pkce: { required: () => true },
    clients: CLIENTS.map(([client_id, client_secret]) => ({
      client_id, client_secret, token_endpoint_auth_method: 'client_secret_post', response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
      redirect_uris: state.origins.map((origin) => `${origin}/api/v1/auth/callback`),
      post_logout_redirect_uris: state.origins.map((origin) => `${origin}/sign-in`),
      ...(client_id === 'other' ? {} : {
        backchannel_logout_uri: `${state.origins[0]}/api/v1/auth/backchannel-logout`, backchannel_logout_session_required: true,
      }),
    })),
    // By itself it calls nobody at home, and there the application of the tests is.
    fetch: (url, { dispatcher: _ofItsOwn, ...options }) => fetch(url, options),
    conformIdTokenClaims: state.conforms, scopes: SCOPE.split(' '),
    claims: {
      openid: ['sub', ...(state.conforms ? [] : OURS)], email: ['email', 'email_verified'],
      profile: ['preferred_username', 'name', ...(state.conforms ? OURS : [])],
    },
    findAccount: (_, sub) => (isAccount(sub) ? { accountId: sub, claims: () => ({ sub, ...state.accounts.get(sub) }) } : undefined),
    extraTokenClaims: (_, token) => state.accounts.get(token.accountId),
    issueRefreshToken: () => true, rotateRefreshToken: () => true,
    ttl: { AccessToken: () => state.expiresIn, IdToken: 600, RefreshToken: 86_400, Session: 86_400, Grant: 86_400, Interaction: 600 },
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    features: {
      devInteractions: { enabled: false }, backchannelLogout: { enabled: true }, revocation: { enabled: true },
      clientCredentials: { enabled: true },
      rpInitiatedLogout: { enabled: true, logoutSource: (ctx, form) => void (ctx.body = form) },
      resourceIndicators: {
        enabled: true, useGrantedResource: () => state.givesJwt,
        defaultResource: (ctx) => (ctx.oidc.params?.grant_type === 'client_credentials' || !state.givesJwt ? undefined : RESOURCE),
        getResourceServerInfo: () => ({
          scope: SCOPE, audience: AUDIENCE, accessTokenTTL: state.expiresIn, accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
  });
  made.on('server_error', (_, error) => console.error('provider', error));
  made.on('backchannel.error', (_, error) => console.error('provider', error));
  return made;
}

const isAccount = (sub) => state.accounts.has(sub) && !state.disabled.has(sub);
const digest = (text) => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** A page that lets in whom the cookie `test-user` names, else whom the tests spoke of last; else it asks. */
async function interact(request, response) {
  const { params, grantId } = await provider.interactionDetails(request, response);
  const asked = /(?:^|; )test-user=([^;]+)/.exec(request.headers.cookie ?? '')?.[1];
  let sub = asked ?? state.current;
  if (request.method === 'POST') {
    let body = '';
    for await (const chunk of request) body += chunk;
    sub = new URLSearchParams(body).get('login');
  }
  if (sub === 'nobody') {
    return provider.interactionFinished(request, response, { error: 'access_denied', error_description: '<b>no</b>' });
  }
  if (sub === undefined || sub === null) {
    response.setHeader('content-type', 'text/html');
    return void response.end('<title>Provider</title><form method="post"><input name="login" autofocus><button>Sign in</button></form>');
  }
  if (!state.accounts.has(sub)) state.accounts.set(sub, claimsOf(sub));
  const grant = grantId ? await provider.Grant.find(grantId) : new provider.Grant({ accountId: sub, clientId: params.client_id });
  grant.addOIDCScope(SCOPE);
  grant.addResourceScope(RESOURCE, SCOPE);
  const result = { login: { accountId: sub }, consent: { grantId: await grant.save() } };
  return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

const claimsOf = (sub) => ({ email: `${sub}@example.test`, email_verified: true, name: sub });

/** Accounts as a provider's administration deletes them: by a token of the client's own. */
async function administer(request, response, sub) {
  const token = await provider.ClientCredentials.find((request.headers.authorization ?? '').replace(/^Bearer /, ''));
  const isKnown = token !== undefined && state.accounts.delete(sub);
  response.statusCode = token === undefined ? 401 : request.method !== 'DELETE' ? 405 : isKnown ? 204 : 404;
  response.end();
}

server.on('request', (request, response) => {
  answer(request, response).catch((error) => {
    console.error('provider', error);
    if (!response.headersSent) response.statusCode = 400;
    response.end();
  });
});

async function answer(request, response) {
  const { pathname } = new URL(request.url, issuer);
  const counted = pathname.replace(/^(\/interaction|\/auth|\/admin\/users)\/.*/, '$1/…');
  state.requests.set(counted, (state.requests.get(counted) ?? 0) + 1);
  if (pathname === '/token') countInFlight(response);
  const forThis = (map) => map.get(pathname) ?? map.get('*');
  const wait = forThis(state.slow);
  if (wait !== undefined) await pause(wait);
  const status = forThis(state.status);
  if (status !== undefined) {
    response.writeHead(status, { 'content-type': 'text/html' });
    return void response.end('<h1>not now</h1>');
  }
  if (state.half.has(pathname) || state.half.has('*')) halve(response);
  if (pathname === '/token' && state.tampering !== undefined) {
    rewriting(response, (text) => changedAnswer(text, state.tampering, { issuer, keys: state.keys, secret: CLIENTS[0][1] }));
  }
  if (pathname.startsWith('/interaction/')) return interact(request, response);
  if (pathname.startsWith('/admin/users/')) return administer(request, response, decodeURIComponent(pathname.slice(13)));
  if (pathname === '/token') await noteRefresh(request);
  return provider.callback()(request, response);
}

function countInFlight(response) {
  state.mostInFlight = Math.max(state.mostInFlight, ++state.inFlight);
  response.on('close', () => void state.inFlight--);
}

/** How often each refresh token was shown: a good client shows each once. */
async function noteRefresh(request) {
  let body = '';
  for await (const chunk of request) body += chunk;
  request.body = body; // oidc-provider takes a body that was read before it
  const form = new URLSearchParams(body);
  state.lastForm = [...form.keys()].sort();
  const token = form.get('refresh_token');
  if (token !== null) state.refreshes.set(digest(token), (state.refreshes.get(digest(token)) ?? 0) + 1);
}

function halve(response) {
  response.end = (chunk) => {
    const whole = Buffer.from(chunk ?? '');
    response.setHeader('content-length', whole.length + 20);
    response.write(whole.subarray(0, whole.length / 2), () => response.socket?.destroy());
    return response;
  };
}

function rewriting(response, change) {
  const end = response.end.bind(response);
  response.end = (chunk) => {
    const text = change(String(chunk ?? ''));
    response.setHeader('content-length', Buffer.byteLength(text));
    return end(text);
  };
}

const set = (map, path, value) => (value === undefined || value === null ? map.delete(path) : map.set(path, value));

const ACTS = {
  serves: (origins) => void ((state.origins = origins), (provider = build())),
  claims: (sub, claims) => void (state.accounts.set(sub, { ...claimsOf(sub), ...claims }), (state.current = sub)),
  signsIn: (sub) => void (state.current = sub ?? undefined),
  accounts: () => [...state.accounts.keys()],
  rotateKeys: ({ keepOld = false } = {}) => {
    state.keys = [newKey('rsa', 'RS256'), ...(keepOld ? state.keys : state.keys.slice(-1))];
    provider = build();
  },
  slow: (ms, path = '*') => void set(state.slow, path, ms === 0 ? undefined : ms),
  status: (code, path = '*') => void set(state.status, path, code),
  half: (on, path = '*') => void (on ? state.half.add(path) : state.half.delete(path)),
  away: async (on) => {
    if (on === !server.listening) return;
    if (!on) return void (await listen(Number(new URL(issuer).port)));
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  },
  disable: (sub, on = true) => void (on ? state.disabled.add(sub) : state.disabled.delete(sub)),
  expiresIn: (seconds) => void (state.expiresIn = seconds),
  givesJwt: (on) => void (state.givesJwt = on),
  conforms: (on) => void ((state.conforms = on), (provider = build())),
  tamper: (change) => void (state.tampering = change ?? undefined),
  sign: (token) => signed(token, { issuer, keys: state.keys, secret: CLIENTS[0][1] }),
  counts: () => ({
    requests: Object.fromEntries(state.requests), refreshes: Object.fromEntries(state.refreshes), mostInFlight: state.mostInFlight,
    lastForm: state.lastForm ?? [],
  }),
  forgetCounts: () => void (state.requests.clear(), state.refreshes.clear(), (state.mostInFlight = 0)),
};

process.on('message', ({ id, act, args }) => {
  Promise.resolve().then(() => ACTS[act](...args)).then(
    (value) => process.send({ id, value }),
    (error) => process.send({ id, failed: String(error?.stack ?? error) }),
  );
});
process.on('disconnect', () => process.exit(0));
process.send({ issuer, clients: CLIENTS, audience: AUDIENCE });
