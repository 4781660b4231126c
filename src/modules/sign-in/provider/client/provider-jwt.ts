import type { JsonObject, JsonValue } from '../../../../domain/json.js';
import { jwtPart } from '../../../../platform/auth/credentials/jwt-parts.js';
import { ALGORITHMS } from './provider-metadata.js';

/** Seconds that the provider's clock may be ahead of ours. The end of a token has no leeway. */
export const CLOCK_SKEW = 30;

/** Members of a header that name keys. Which key verifies is decided here, not by the token (RFC 8725, section 3.10). */
const NOT_IN_HEADERS = ['crit', 'jwk', 'jku', 'x5u', 'x5c', 'b64', 'zip', 'enc'];
const TYPES = /^(?:application\/)?(?:at\+)?jwt$/i;
const KEY_ID_MAX = 255;
/** Claims that stand in id tokens and in logout tokens, and not in what calls are made with. */
const OF_OTHER_TOKENS = ['at_hash', 'c_hash', 's_hash', 'events'];
/** Claims that stand in access tokens and not in id tokens (RFC 9068, section 2.2, and what came before it). */
const OF_ACCESS_TOKENS = ['scope', 'scp', 'client_id', 'cid'];

export interface ReadJwt {
  readonly header: JsonObject;
  readonly claims: JsonObject;
}

/** What a token says before anybody has verified it. @returns why nobody needs to, where it is none that could hold */
export function readJwt(token: string): ReadJwt | string {
  const parts = token.split('.');
  const [header, claims] = [jwtPart(parts[0] ?? ''), jwtPart(parts[1] ?? '')];
  if (parts.length !== 3 || header === undefined) return 'not a token';
  if (claims === undefined) return 'the claims are not valid';
  const { alg, kid, typ } = header;
  if (!ALGORITHMS.some((one) => one === alg)) return 'a token by another algorithm';
  if (NOT_IN_HEADERS.some((name) => name in header)) return 'the header says more than it may';
  if (kid !== undefined && (typeof kid !== 'string' || kid.length > KEY_ID_MAX)) return 'the key is not known';
  if (typ !== undefined && (typeof typ !== 'string' || !TYPES.test(typ))) return 'a token of another kind';
  return { header, claims };
}

/** Whom the claims have to name. */
export interface ExpectedParties {
  readonly issuer: string;
  readonly audience: string;
}

/**
 * Why a token whose signature holds is no credential all the same: it is not from whom or for whom it should be, not of this time, or
 * it was made for something else (an id token, a logout token, an application's own, one that is bound to a key of its holder).
 *
 * @param now Unix seconds
 */
export function whyNoCredential({ header, claims }: ReadJwt, { issuer, audience }: ExpectedParties, now: number): string | undefined {
  const { iss, aud, exp, iat, nbf } = claims;
  if (iss !== issuer) return 'the claim iss is not valid';
  if (aud !== audience && !(Array.isArray(aud) && aud.includes(audience))) return 'the claim aud is not valid';
  if (!isTime(exp)) return 'the claim exp is not valid';
  if (exp <= now) return 'the token has expired';
  if (!isTime(iat) || iat > now + CLOCK_SKEW) return 'the claim iat is not valid';
  if (nbf !== undefined && (!isTime(nbf) || nbf > now + CLOCK_SKEW)) return 'the claim nbf is not valid';
  if (isOfAnotherKind(header, claims)) return 'a token of another kind';
  if (claims['cnf'] !== undefined) return 'the token is bound to a key';
  return isOfAnApplication(claims) ? 'a token of an application' : undefined;
}

/**
 * An id token can look like any other: its nonce goes when it is renewed, its hashes are optional, and its audience may be ours. So a
 * token has to say, in one of the ways that are in use, that calls are made with it.
 */
function isOfAnotherKind({ typ: kind }: JsonObject, claims: JsonObject): boolean {
  const { typ, token_use: use, nonce } = claims;
  if (OF_OTHER_TOKENS.some((claim) => claims[claim] !== undefined)) return true;
  if (use !== undefined && use !== 'access') return true;
  const isBearer = typeof typ === 'string' && typ.toLowerCase() === 'bearer';
  if (typ !== undefined && !isBearer) return true;
  if (isBearer || (typeof kind === 'string' && /at\+jwt$/i.test(kind))) return false;
  // A nonce is of id tokens, but for those providers that put it everywhere and say the kind besides.
  return nonce !== undefined || !(use === 'access' || OF_ACCESS_TOKENS.some((claim) => isSaid(claims[claim])));
}

const isSaid = (value: JsonValue | undefined): boolean => typeof value === 'string' || Array.isArray(value);

/** By the client's own right, for nobody (RFC 9068, section 2.2: the subject is then the client). */
function isOfAnApplication({ sub, client_id: client, azp, gty, idtyp }: JsonObject): boolean {
  return (sub !== undefined && (sub === client || sub === azp)) || gty === 'client-credentials' || idtyp === 'app';
}

function isTime(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
