// Tokens that no provider would sign, by the keys of one that is real.
import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';

const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const encoded = (value) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const decoded = (part) => JSON.parse(Buffer.from(part, 'base64url'));
const without = (object) => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null));

/** The public half of a key, as PEM: what a verifier that confuses algorithms would take for a shared secret. */
const verificationKey = (key) => createPublicKey({ key, format: 'jwk' }).export({ type: 'spki', format: 'pem' });

/**
 * A JWS over the claims. `by`: `own` (the provider's key), `other-alg` (its EdDSA key), `stranger` (a key that nobody published),
 * `none`, `secret` (HS256 by the client's secret), `public` (HS256 by the provider's public key). Members that are null are left out;
 * `text` is the payload as it stands.
 */
export function signed({ header = {}, claims = {}, by = 'own', text }, { keys, secret }) {
  const [rsa, ed] = keys;
  const jwk = by === 'other-alg' ? ed : rsa;
  const alg = by === 'none' ? 'none' : by === 'secret' || by === 'public' ? 'HS256' : jwk.alg;
  const kid = by === 'none' ? null : jwk.kid;
  const head = `${encoded(without({ alg, typ: 'JWT', kid, ...header }))}.${encoded(text ?? without(claims))}`;
  return `${head}.${signatureOf(head, by, jwk, secret)}`;
}

function signatureOf(head, by, jwk, secret) {
  if (by === 'none') return '';
  if (by === 'secret') return createHmac('sha256', secret).update(head).digest('base64url');
  if (by === 'public') return createHmac('sha256', verificationKey(jwk)).update(head).digest('base64url');
  const key = by === 'stranger' ? stranger : createPrivateKey({ key: jwk, format: 'jwk' });
  return sign(by === 'other-alg' ? null : 'sha256', Buffer.from(head), key).toString('base64url');
}

/** An answer of /token with its id token changed: `claims` and `header` put over it, `by` as above, or `kept` for the old signature. */
export function changedAnswer(text, { claims = {}, header = {}, by = 'own', body = {} }, scenario) {
  if (!text.startsWith('{')) return text;
  const answer = JSON.parse(text);
  if (typeof answer.id_token === 'string') {
    const [head, payload, signature] = answer.id_token.split('.');
    const { typ = null, kid } = decoded(head);
    const next = { ...decoded(payload), ...claims };
    answer.id_token = by === 'kept'
      ? `${head}.${encoded(without(next))}.${signature}`
      : signed({ header: { typ, ...(by === 'own' ? { kid } : {}), ...header }, claims: next, by }, scenario);
  }
  return JSON.stringify(without({ ...answer, ...body }));
}
