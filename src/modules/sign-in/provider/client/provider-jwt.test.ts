import { describe, expect, it } from '@jest/globals';
import type { JsonObject, JsonValue } from '../../../../domain/json.js';
import { isByPublicKey } from '../../../../platform/auth/credentials/jwt-parts.js';
import { readJwt, whyNoCredential } from './provider-jwt.js';

const NOW = 1_800_000_000;
const PARTIES = { issuer: 'https://id.example', audience: 'api' };
const HEADER = { alg: 'RS256', typ: 'JWT', kid: 'one' };
const CLAIMS = { iss: 'https://id.example', aud: 'api', sub: 'ada', iat: NOW - 5, exp: NOW + 600, scope: 'openid' };

const part = (value: JsonValue) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const token = (header: JsonValue, claims: JsonValue = CLAIMS) => `${part(header)}.${part(claims)}.c2lnbmF0dXJl`;

/** Members that are null are left out. */
function why(claims: JsonObject = {}, header: JsonObject = {}): string | undefined {
  const merged = Object.fromEntries(Object.entries({ ...CLAIMS, ...claims }).filter(([, value]) => value !== null));
  return whyNoCredential({ header: { ...HEADER, ...header }, claims: merged }, PARTIES, NOW);
}

describe('whose a bearer credential is to judge', () => {
  it.each([
    ['by RSA', token(HEADER), true],
    ['by an algorithm of the provider that is not taken', token({ alg: 'EdDSA' }), true],
    ['by a secret', token({ alg: 'HS256' }), false],
    ['by a secret, otherwise spelled', token({ typ: 'JWT', alg: 'HS512', kid: 'x' }), false],
    ['by nothing', token({ alg: 'none' }), false],
    ['without an algorithm', token({ typ: 'JWT' }), false],
    ['with two algorithms', token('{"alg":"RS256","alg":"HS256"}'), false],
    ['by no text', token({ alg: ['RS256'] }), false],
    ['of two parts', `${part(HEADER)}.${part(CLAIMS)}`, false],
    ['no token', 'abc', false],
    ['a key', `svc_user_${'0'.repeat(64)}`, false],
    ['a header that is no JSON', `abc.${part(CLAIMS)}.c2ln`, false],
  ])('%s', (_, bearer, isTheProviders) => expect(isByPublicKey(bearer)).toBe(isTheProviders));
});

describe('a token before its signature is looked at', () => {
  it('reads header and claims', () => expect(readJwt(token(HEADER))).toEqual({ header: HEADER, claims: CLAIMS }));

  it.each(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'])('takes %s', (alg) =>
    expect(typeof readJwt(token({ alg }))).toBe('object'));

  it.each(['EdDSA', 'Ed25519', 'ES256K', 'ML-DSA-44', 'rs256', 'RS256 ', 'HS256', 'none', 'RSA-OAEP', ''])('does not take %j', (alg) =>
    expect(readJwt(token({ alg }))).toBe('a token by another algorithm'));

  it.each<[string, JsonValue]>([
    ['crit', ['b64']], ['jwk', { kty: 'RSA' }], ['jku', 'https://evil.example'], ['x5u', 'https://evil.example'], ['x5c', ['MII']],
    ['b64', false], ['zip', 'DEF'], ['enc', 'A128GCM'],
  ])('does not let the header say %s', (name, value) =>
    expect(readJwt(token({ ...HEADER, [name]: value }))).toBe('the header says more than it may'));

  it.each<[JsonValue]>([['JWT'], ['jwt'], ['at+jwt'], ['AT+JWT'], ['application/at+jwt']])('takes the type %j', (typ) =>
    expect(typeof readJwt(token({ ...HEADER, typ }))).toBe('object'));

  it.each<[JsonValue]>([['logout+jwt'], ['JOSE'], [7], [null], ['']])('does not take the type %j', (typ) =>
    expect(readJwt(token({ ...HEADER, typ }))).toBe('a token of another kind'));

  it.each<[JsonValue]>([[7], [null], ['k'.repeat(256)], [['one']]])('does not look for the key %j', (kid) =>
    expect(readJwt(token({ ...HEADER, kid }))).toBe('the key is not known'));

  it.each([
    ['a claim twice', token(HEADER, '{"sub":"ada","sub":"bob"}'), 'the claims are not valid'],
    ['claims that are a list', token(HEADER, []), 'the claims are not valid'],
    ['claims in another spelling of base64url', token(HEADER).replace(/\.([^.]+)\./, '.$1=.'), 'the claims are not valid'],
    ['five parts', `${token(HEADER)}.a.b`, 'not a token'],
  ])('refuses %s', (_, bearer, reason) => expect(readJwt(bearer)).toBe(reason));
});

describe('a token whose signature holds', () => {
  it('is a credential', () => {
    expect(why()).toBeUndefined();
    expect(why({ aud: ['other', 'api'], scope: null }, { typ: 'at+jwt' })).toBeUndefined();
    const marks: JsonObject[] = [{ scp: ['read'] }, { client_id: 'app' }, { cid: 'app' }, { token_use: 'access' }, { typ: 'Bearer' }];
    for (const mark of marks) {
      expect(why({ scope: null, ...mark })).toBeUndefined();
    }
    expect(why({ nonce: 'n', typ: 'Bearer' })).toBeUndefined();
    expect(why({ nonce: 'n' }, { typ: 'at+jwt' })).toBeUndefined();
    expect(why({ iat: NOW + 30, nbf: NOW + 30, token_use: 'access', client_id: 'app', azp: 'app' })).toBeUndefined();
  });

  it.each<[string, JsonObject, string]>([
    ['of another issuer', { iss: 'https://id.example/' }, 'the claim iss is not valid'],
    ['of no issuer', { iss: null }, 'the claim iss is not valid'],
    ['for another audience', { aud: 'apis' }, 'the claim aud is not valid'],
    ['for other audiences', { aud: ['apis', ['api']] }, 'the claim aud is not valid'],
    ['for nobody', { aud: null }, 'the claim aud is not valid'],
    ['without an end', { exp: null }, 'the claim exp is not valid'],
    ['that ends in words', { exp: 'tomorrow' }, 'the claim exp is not valid'],
    ['that ends now', { exp: NOW }, 'the token has expired'],
    ['without a beginning', { iat: null }, 'the claim iat is not valid'],
    ['of the future', { iat: NOW + 31 }, 'the claim iat is not valid'],
    ['not good yet', { nbf: NOW + 31 }, 'the claim nbf is not valid'],
    ['that is an id token by its hash', { at_hash: 'x' }, 'a token of another kind'],
    ['that is an id token by its other hash', { c_hash: 'x' }, 'a token of another kind'],
    ['that is an id token by its nonce', { nonce: 'x' }, 'a token of another kind'],
    ['that is an id token by its use', { token_use: 'id' }, 'a token of another kind'],
    ['that is an id token by its type', { typ: 'ID' }, 'a token of another kind'],
    ['that is an id token as it is renewed', { scope: null }, 'a token of another kind'],
    ['that is made for nothing', { scope: 7 }, 'a token of another kind'],
    ['that renews', { typ: 'Refresh' }, 'a token of another kind'],
    ['of a logout', { events: {} }, 'a token of another kind'],
    ['that only its holder may show', { cnf: { jkt: 'x' } }, 'the token is bound to a key'],
    ['of a client', { client_id: 'ada' }, 'a token of an application'],
    ['of another form of client', { azp: 'ada' }, 'a token of an application'],
    ['of a third form of client', { gty: 'client-credentials' }, 'a token of an application'],
    ['of a fourth form of client', { idtyp: 'app' }, 'a token of an application'],
  ])('is none %s', (_, claims, reason) => expect(why(claims)).toBe(reason));
});
