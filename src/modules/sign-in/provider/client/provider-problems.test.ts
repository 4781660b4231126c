import { describe, expect, it } from '@jest/globals';
import { errors } from 'jose';
import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client';
import { Problem } from '../../../../platform/http/reply/problem.js';
import { ProviderAway } from './provider-fetch.js';
import { providerProblem, troubleOf } from './provider-problems.js';

const MARKUP = '<b>no</b>';
const coded = (code: string) => Object.assign(new ClientError('x'), { code });
const answered = (error: string) => new ResponseBodyError(MARKUP, {
  cause: { error, error_description: MARKUP }, response: new Response(null, { status: 400 }),
} as never);
const refused = (error: string) => new AuthorizationResponseError(MARKUP, {
  cause: new URLSearchParams({ error, error_description: MARKUP }),
} as never);

describe('what went wrong with the provider', () => {
  it.each<[string, unknown, string]>([
    ['nobody there', new ProviderAway('away'), 'UNAVAILABLE'],
    ['too slow', new ClientError('x', { cause: new ProviderAway('slow') }), 'PROVIDER_TIMEOUT'],
    ['half an answer', new Error('x', { cause: new Error('y', { cause: new ProviderAway('broken') }) }), 'PROVIDER_ERROR'],
    ['too slow for the library', coded('OAUTH_TIMEOUT'), 'PROVIDER_TIMEOUT'],
    ['no JSON', coded('OAUTH_RESPONSE_IS_NOT_JSON'), 'PROVIDER_ERROR'],
    ['status 500', coded('OAUTH_RESPONSE_IS_NOT_CONFORM'), 'PROVIDER_ERROR'],
    ['broken JSON', coded('OAUTH_PARSE_ERROR'), 'PROVIDER_ERROR'],
    ['no endpoint', coded('OAUTH_MISSING_SERVER_METADATA'), 'PROVIDER_ERROR'],
    ['another state', coded('OAUTH_INVALID_RESPONSE'), 'VALIDATION_FAILED'],
    ['another nonce', coded('OAUTH_JWT_CLAIM_COMPARISON_FAILED'), 'VALIDATION_FAILED'],
    ['expired', coded('OAUTH_JWT_TIMESTAMP_CHECK_FAILED'), 'VALIDATION_FAILED'],
    ['a signature that does not hold', new errors.JWSSignatureVerificationFailed(), 'VALIDATION_FAILED'],
    ['a key that nobody knows', new errors.JWKSNoMatchingKey(), 'VALIDATION_FAILED'],
    ['a used code', answered('invalid_grant'), 'VALIDATION_FAILED'],
    ['a client that is refused', answered('invalid_client'), 'PROVIDER_ERROR'],
    ['a person who gave up', refused('access_denied'), 'VALIDATION_FAILED'],
    ['a provider that failed', refused('server_error'), 'PROVIDER_ERROR'],
    ['a busy provider', refused('temporarily_unavailable'), 'UNAVAILABLE'],
    ['a code of the provider’s own', refused(MARKUP), 'VALIDATION_FAILED'],
    ['nothing', undefined, 'PROVIDER_ERROR'],
    ['a text', MARKUP, 'PROVIDER_ERROR'],
    ['a failed call', new TypeError('fetch failed'), 'PROVIDER_ERROR'],
  ])('%s', (_, error, code) => {
    const problem = providerProblem(error);
    expect(problem.code).toBe(code);
    expect(problem.detail).not.toContain('<');
  });

  it('stays what it was where it is an answer already', () => {
    const problem = new Problem('UNAVAILABLE', 'later');
    expect(providerProblem(problem)).toBe(problem);
  });

  it('is in the log without the text of the answer', () => {
    const error = Object.assign(new ClientError('x', { cause: { body: { access_token: 'a-secret' } } }), { code: 'OAUTH_X' });
    expect(JSON.stringify(troubleOf(error))).not.toContain('a-secret');
    expect(troubleOf(new ClientError('x', { cause: new ProviderAway('slow') }))).toMatchObject({ trouble: 'slow' });
  });
});
