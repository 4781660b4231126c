import { errors } from 'jose';
import { AuthorizationResponseError, ClientError, ResponseBodyError, WWWAuthenticateChallengeError } from 'openid-client';
import { Problem } from '../../../../platform/http/reply/problem.js';
import { ProviderAway } from './provider-fetch.js';

/** Codes of the library for a whole answer that is not what a provider answers. */
const OF_ANSWERS = new Set([
  'OAUTH_RESPONSE_IS_NOT_JSON', 'OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_PARSE_ERROR', 'OAUTH_UNSUPPORTED_OPERATION',
]);
/** For what the provider is set up without. */
const OF_METADATA = /SERVER_METADATA|REQUEST_(?:PROTOCOL_)?FORBIDDEN/;

/**
 * What went wrong with the provider, as we answer it: total, and in our own words, since what a provider or a browser says of it is a
 * stranger's text. Who is at fault decides: what was brought back does not hold (400), or the provider (502, 503, 504).
 */
export function providerProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const away = awayIn(error);
  if (away !== undefined) return OF_TROUBLE[away.trouble]();
  if (error instanceof AuthorizationResponseError) return refusedThere(error.error);
  if (error instanceof ResponseBodyError) {
    return error.error === 'invalid_grant'
      ? new Problem('VALIDATION_FAILED', 'The code of the identity provider does not hold, or was used before. Sign in again.')
      : new Problem('PROVIDER_ERROR', 'The identity provider has refused this service. Its operator finds more in the log.');
  }
  if (isTimeout(error)) return OF_TROUBLE.slow();
  if (error instanceof errors.JOSEError) return doesNotHold();
  if (error instanceof ClientError && error.code !== undefined && !OF_ANSWERS.has(error.code) && !OF_METADATA.test(error.code)) {
    return doesNotHold();
  }
  if (error instanceof WWWAuthenticateChallengeError) {
    return new Problem('PROVIDER_ERROR', 'The identity provider does not know this service. Its operator finds more in the log.');
  }
  return OF_TROUBLE.broken();
}

const OF_TROUBLE = {
  away: () => new Problem('UNAVAILABLE', 'The identity provider cannot be reached right now.', { headers: { 'Retry-After': '5' } }),
  slow: () => new Problem('PROVIDER_TIMEOUT', 'The identity provider did not answer in time.'),
  broken: () => new Problem('PROVIDER_ERROR', 'The identity provider has answered with something that cannot be used.'),
} as const;

function doesNotHold(): Problem {
  return new Problem('VALIDATION_FAILED', 'What the identity provider sent does not belong to this sign-in. Sign in again.');
}

/** The codes are those of RFC 6749, section 4.1.2.1. */
function refusedThere(code: string): Problem {
  if (code === 'temporarily_unavailable') return OF_TROUBLE.away();
  if (code === 'server_error') return OF_TROUBLE.broken();
  const words = code === 'access_denied' ? 'The sign-in was refused or given up at the identity provider.'
    : 'The identity provider has not let the sign-in go on.';
  return new Problem('VALIDATION_FAILED', words);
}

/**
 * What the log says of it: kinds, codes and the libraries' own words. What was answered stays out, for it holds what people are called
 * and what lets them in.
 */
export function troubleOf(error: unknown): Record<string, unknown> {
  const { name, code, message } = (error ?? {}) as { name?: unknown; code?: unknown; message?: unknown };
  const cause = error instanceof Error && error.cause instanceof Error ? { because: error.cause.message } : {};
  const refusal = error instanceof ResponseBodyError ? { refusal: error.error.slice(0, 100), status: error.status } : {};
  return { trouble: awayIn(error)?.trouble ?? name, code, message, ...cause, ...refusal };
}

/** The libraries wrap what a call threw. */
function awayIn(error: unknown, depth = 4): ProviderAway | undefined {
  if (error instanceof ProviderAway) return error;
  return depth > 0 && error instanceof Error ? awayIn(error.cause, depth - 1) : undefined;
}

function isTimeout(error: unknown): boolean {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT' || name === 'TimeoutError';
}
