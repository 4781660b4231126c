import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { claimsOf, encodePart, signText, signToken, type Claims } from '../../support/builders/agent-token.js';
import { JWT_SECRET } from '../../support/servers/test-run.js';

export interface Mutation {
  readonly what: string;
  readonly token: string;
}

const OTHER_SECRET = 'a-secret-of-another-service-that-is-long-enough';

/** Tokens made from a genuine one, each wrong in one way; all that can carry a right signature do. */
export function mutationsOf(genuine: string, stranger: string): Mutation[] {
  const claims = claimsOf(genuine);
  return [
    // First, since the clock goes on: what is issued ahead of time would be right a while later.
    ...times(claims), ...algorithms(genuine, claims), ...headers(claims), ...signatures(genuine), ...shapes(genuine, claims),
    ...missing(claims), ...wrong(claims, claimsOf(stranger)), ...duplicates(claims, claimsOf(stranger)), ...texts(claims),
  ];
}

function algorithms(genuine: string, claims: Claims): Mutation[] {
  const payload = encodePart(claims);
  const [, , signature = ''] = genuine.split('.');
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const names = ['none', 'None', 'NONE', 'nOnE', '', 'hs256', 'Hs256', 'HS-256', 'HS256 ', ' HS256', 'HS1', 'RS256', 'ES256',
    'PS256', 'EdDSA'];
  const values: unknown[] = [...names, null, true, 256, ['HS256'], { alg: 'HS256' }];
  const unsigned = values.flatMap((alg) => {
    const signed = `${encodePart({ alg, typ: 'JWT' })}.${payload}`;
    const name = `alg ${JSON.stringify(alg)}`;
    return [
      { what: `${name}, no signature`, token: `${signed}.` },
      { what: `${name}, the genuine signature`, token: `${signed}.${signature}` },
      { what: `${name}, signed as HS256`, token: signText(signed) },
    ];
  });
  const longer = (['sha384', 'sha512'] as const).map((digest) => {
    const alg = `HS${digest.slice(3)}`;
    return { what: `${alg}, rightly signed`,
      token: signText(`${encodePart({ alg, typ: 'JWT' })}.${payload}`, JWT_SECRET, digest) };
  });
  const rsa = `${encodePart({ alg: 'RS256', typ: 'JWT' })}.${payload}`;
  return [
    ...unsigned, ...longer,
    { what: 'no alg', token: signToken(claims, { typ: 'JWT' }) },
    { what: 'RS256, rightly signed by a key of its own',
      token: `${rsa}.${sign('sha256', Buffer.from(rsa), privateKey).toString('base64url')}` },
  ];
}

function headers(claims: Claims): Mutation[] {
  const base = { alg: 'HS256', typ: 'JWT' };
  const members: Record<string, unknown> = {
    kid: '../../../../dev/null', jku: 'https://attacker.example/jwks.json', jwk: { kty: 'oct', k: encodePart(OTHER_SECRET) },
    x5u: 'https://attacker.example/cert.pem', x5c: ['MIIB'], x5t: 'AAAA', crit: ['exp'], zip: 'DEF', b64: false, enc: 'A256GCM',
  };
  const added = Object.entries(members).map(([name, value]) =>
    ({ what: `header ${name}`, token: signToken(claims, { ...base, [name]: value }) }));
  return [
    ...added,
    { what: 'header kid that injects', token: signToken(claims, { ...base, kid: "x' union select 'secret' --" }) },
    { what: 'header jwk and its signature', token: signToken(claims, { ...base, jwk: members.jwk }, OTHER_SECRET) },
    { what: 'header alg twice, none last', token: signToken(claims, '{"alg":"HS256","typ":"JWT","alg":"none"}') },
    { what: 'header alg twice, none first', token: signToken(claims, '{"alg":"none","typ":"JWT","alg":"HS256"}') },
    { what: 'header is a list', token: signToken(claims, '["HS256"]') },
    { what: 'header is null', token: signToken(claims, 'null') },
    { what: 'header is no JSON', token: signToken(claims, 'HS256') },
    { what: 'header with __proto__', token: signToken(claims, '{"alg":"HS256","typ":"JWT","__proto__":{"alg":"none"}}') },
  ];
}

function signatures(genuine: string): Mutation[] {
  const [header = '', payload = '', signature = ''] = genuine.split('.');
  const signed = `${header}.${payload}`;
  const flip = (at: number) => {
    const next = signature[at] === 'A' ? 'E' : 'A';
    return `${signature.slice(0, at)}${next}${signature.slice(at + 1)}`;
  };
  const bytes = Buffer.from(signature, 'base64url');
  return [
    ...[...signature].map((_, at) => ({ what: `signature, character ${at}`, token: `${signed}.${flip(at)}` })),
    ...['', OTHER_SECRET, JWT_SECRET.slice(0, -1), `${JWT_SECRET} `, JWT_SECRET.toLowerCase()].map((secret, at) => ({
      what: `signed with another secret (${at})`,
      token: `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`,
    })),
    { what: 'signature in hex', token: `${signed}.${bytes.toString('hex')}` },
    { what: 'signature cut', token: `${signed}.${bytes.subarray(0, 16).toString('base64url')}` },
    { what: 'signature longer', token: `${signed}.${Buffer.concat([bytes, Buffer.from([0])]).toString('base64url')}` },
    { what: 'signature padded', token: `${signed}.${signature}=` },
    { what: 'signature empty', token: `${signed}.` },
    { what: 'signature of the payload alone',
      token: `${signed}.${createHmac('sha256', JWT_SECRET).update(payload).digest('base64url')}` },
  ];
}

function shapes(genuine: string, claims: Claims): Mutation[] {
  const [header = '', payload = '', signature = ''] = genuine.split('.');
  const last = payload.at(-1) ?? '';
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  // A last character whose unused bits differ decodes to the same bytes: a second spelling of one token.
  const other = [...alphabet].find((sign) => sign !== last && same(payload, payload.slice(0, -1) + sign));
  const bom = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(JSON.stringify(claims))]).toString('base64url');
  const notUtf8 = Buffer.concat([Buffer.from('{"x":"'), Buffer.from([0xff]),
    Buffer.from(`",${JSON.stringify(claims).slice(1)}`)]);
  return [
    { what: 'no payload', token: signText(`${header}.`) },
    { what: 'no header', token: signText(`.${payload}`) },
    { what: 'two parts', token: `${header}.${payload}` },
    { what: 'four parts', token: `${genuine}.${signature}` },
    { what: 'five parts', token: `${header}.${payload}.${payload}.${payload}.${signature}` },
    { what: 'a dot before', token: `.${genuine}` },
    { what: 'a dot after', token: `${genuine}.` },
    { what: 'parts exchanged', token: `${payload}.${header}.${signature}` },
    { what: 'payload padded', token: signText(`${header}.${payload}=`) },
    { what: 'header padded', token: signText(`${header}=.${payload}`) },
    { what: 'a blank inside', token: `${header}. ${payload}.${signature}` },
    { what: 'a tab inside', token: `${header}.\t${payload}.${signature}` },
    { what: 'a blank before the signature', token: `${header}.${payload}. ${signature}` },
    { what: 'in quotes', token: `"${genuine}"` },
    { what: 'another prefix', token: `svc_root_${genuine}` },
    { what: 'percent-encoded dots', token: genuine.replaceAll('.', '%2E') },
    { what: 'twice', token: `${genuine},${genuine}` },
    { what: 'payload in the other base64',
      token: signText(`${header}.${Buffer.from(JSON.stringify({ ...claims, x: '??>>~~' })).toString('base64')}`) },
    { what: 'payload with a byte order mark', token: signText(`${header}.${bom}`) },
    { what: 'payload that is no UTF-8', token: signText(`${header}.${notUtf8.toString('base64url')}`) },
    ...(other === undefined ? [] : [{ what: 'payload in a second spelling',
      token: signText(`${header}.${payload.slice(0, -1)}${other}`) }]),
    ...['null', '[]', '"text"', '5', '', '{', `${JSON.stringify(claims)}x`].map((text) => ({
      what: `payload ${text.slice(0, 8)}`,
      token: signToken(text),
    })),
  ];
}

const same = (one: string, two: string) => Buffer.from(one, 'base64url').equals(Buffer.from(two, 'base64url'));

const REQUIRED = ['sub', 'agent_id', 'org_id', 'capabilities', 'iat', 'exp'];

function missing(claims: Claims): Mutation[] {
  return REQUIRED.map((name) => {
    const { [name]: _, ...rest } = claims;
    return { what: `no ${name}`, token: signToken(rest) };
  });
}

function wrong(claims: Claims, strange: Claims): Mutation[] {
  const unknown = 'agt_00000000000000000000000000absent0000';
  const ids = [null, 5, true, '', 'root', ' ', [claims.sub], { id: claims.sub }, `${String(claims.sub)} `,
    String(claims.sub).toUpperCase()];
  const values: Record<string, unknown[]> = {
    sub: [...ids, strange.sub, unknown],
    agent_id: [...ids, strange.agent_id, unknown],
    org_id: [null, 5, '', 'org_platform', 'org_00000000000000000000000000absent0000', [claims.org_id],
      String(claims.org_id).toUpperCase()],
    tenant_id: ['ten_00000000000000000000000000absent0000', claims.org_id, '', null, 5, ['ten_x']],
    capabilities: [null, 'web.search', { 0: 'web.search' }, [5], [null], [['web.search']], true, ['x'.repeat(300)]],
    iss: ['https://idp.example', '', null, 5, [claims.iss], `${String(claims.iss)} `, 'COUNTERSIGN'],
    aud: ['another-service', '', null, 5, ['another-service'], {}],
    jti: [5, null, '', [], {}],
    epoch: [null, -1, '0', 1, 1_900_000_000, 0.5, [0], true],
    auth_time: [null, '1', -1, true, 9_999_999_999, []],
    vch: [5, null, [], {}],
  };
  const single = Object.entries(values).flatMap(([name, wrongs]) =>
    wrongs.map((value) => ({ what: `${name} ${JSON.stringify(value)?.slice(0, 60)}`,
      token: signToken({ ...claims, [name]: value }) })),
  );
  return [
    ...single,
    { what: 'sub and agent_id of nobody', token: signToken({ ...claims, sub: unknown, agent_id: unknown }) },
    { what: 'sub and agent_id of a user',
      token: signToken({ ...claims, sub: 'usr_0123456789abc', agent_id: 'usr_0123456789abc' }) },
  ];
}

function times(claims: Claims): Mutation[] {
  const now = Math.floor(Date.now() / 1000);
  const cases: [string, Claims][] = [
    ['expired a second ago', { iat: now - 100, exp: now - 1, auth_time: now - 100 }],
    ['expired long ago', { iat: 1, exp: 2, auth_time: 1 }],
    ['expires before it was issued', { exp: Number(claims.iat) - 1 }],
    ['lives a second longer than a day', { iat: now, exp: now + 86_401, auth_time: now }],
    ['lives for ever', { exp: 9_007_199_254_740_991 }],
    ['lives a hundred years', { exp: now + 3_155_760_000 }],
    ['issued 90 seconds ahead', { iat: now + 90, exp: now + 3_600 }],
    ['issued tomorrow', { iat: now + 86_400, exp: now + 90_000 }],
    ['issued before time', { iat: -1, exp: now + 60 }],
    ['not valid yet', { nbf: now + 3_600 }],
    ...[null, '', 'never', '9999999999', true, [], {}, -1, 0]
      .map((exp): [string, Claims] => [`exp ${JSON.stringify(exp)}`, { exp }]),
    ...[null, '', String(now), true, [], {}].map((iat): [string, Claims] => [`iat ${JSON.stringify(iat)}`, { iat }]),
    ['times in milliseconds', { iat: now * 1000, exp: (now + 60) * 1000 }],
  ];
  return cases.map(([what, change]) => ({ what, token: signToken({ ...claims, ...change }) }));
}

function duplicates(claims: Claims, strange: Claims): Mutation[] {
  const text = JSON.stringify(claims);
  const doubled = Object.keys(claims).flatMap((name) => {
    const again = JSON.stringify(strange[name] ?? claims[name]);
    return [
      { what: `${name} twice, the right one last`, token: signToken(`{"${name}":${again},${text.slice(1)}`) },
      { what: `${name} twice, the right one first`, token: signToken(`${text.slice(0, -1)},"${name}":${again}}`) },
    ];
  });
  return [...doubled, { what: 'sub twice, once by an escape',
    token: signToken(`{"s\\u0075b":"${String(strange.sub)}",${text.slice(1)}`) }];
}

function texts(claims: Claims): Mutation[] {
  const text = JSON.stringify(claims);
  return [
    { what: 'claims with __proto__', token: signToken(`{"__proto__":{"epoch":0},${text.slice(1)}`) },
    { what: 'claims with NUL', token: signToken(`{"x":"\\u0000",${text.slice(1)}`) },
    { what: 'claims with a lone surrogate', token: signToken(`{"x":"\\ud800",${text.slice(1)}`) },
    { what: 'claims nested too deep', token: signToken(`{"x":${'['.repeat(80)}${']'.repeat(80)},${text.slice(1)}`) },
  ];
}
