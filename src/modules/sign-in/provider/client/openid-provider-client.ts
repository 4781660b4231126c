import { Inject, Injectable } from '@nestjs/common';
import { compactVerify } from 'jose';
import {
  authorizationCodeGrant, buildAuthorizationUrl, buildEndSessionUrl, calculatePKCECodeChallenge, fetchUserInfo, refreshTokenGrant,
  ResponseBodyError, skipSubjectCheck, tokenRevocation,
} from 'openid-client';
import type { Logger } from 'pino';
import { type Claims, readClaims } from '../../../../domain/access/claims.js';
import type { JsonObject } from '../../../../domain/json.js';
import { jwtPart } from '../../../../platform/auth/credentials/jwt-parts.js';
import { CONFIG, type CompleteConfig } from '../../../../platform/config/config.js';
import { Problem } from '../../../../platform/http/reply/problem.js';
import { LOGGER } from '../../../../platform/logging/token.js';
import {
  type LoginChecks, ProviderClient, type ProviderGrant, type ProviderRenewal, type ProviderTokenCheck,
} from '../../ports/provider-client.js';
import { CLOCK_SKEW } from './provider-jwt.js';
import { ProviderKeys } from './provider-keys.js';
import { ALGORITHMS, type KnownProvider, ProviderMetadata } from './provider-metadata.js';
import { providerProblem, troubleOf } from './provider-problems.js';
import { ProviderTokenVerifier } from './provider-token-verifier.js';

const OFFLINE = 'offline_access';
const SID_MAX = 255;

type Settings = Pick<CompleteConfig, 'appUrl' | 'oidcRedirectUri' | 'oidcScopes'>;

/** The identity provider by OpenID Connect, code flow with PKCE. */
@Injectable()
export class OpenidProviderClient extends ProviderClient {
  constructor(
    @Inject(CONFIG) private readonly config: Settings,
    private readonly provider: ProviderMetadata,
    private readonly keys: ProviderKeys,
    private readonly tokens: ProviderTokenVerifier,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    super();
  }

  get issuer(): string | undefined {
    return this.provider.issuer;
  }

  async authorizationUrl({ state, nonce, verifier }: LoginChecks): Promise<URL> {
    const { configuration, metadata } = await this.provider.get();
    const scopes = this.config.oidcScopes.filter((scope) => scope !== OFFLINE || metadata.scopes_supported?.includes(OFFLINE) === true);
    try {
      return buildAuthorizationUrl(configuration, {
        redirect_uri: this.config.oidcRedirectUri, scope: scopes.join(' '), state, nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier), code_challenge_method: 'S256',
      });
    } catch (error) {
      throw this.logFailure('authorization', error);
    }
  }

  async exchange(callback: URL, { state, nonce, verifier }: LoginChecks): Promise<ProviderGrant> {
    const known = await this.provider.get();
    try {
      const answer = await authorizationCodeGrant(known.configuration, callback, {
        expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true,
      });
      const idToken = answer.id_token!;
      const payload = await this.verifiedIdToken(idToken);
      const userClaims = await this.withUserinfo(known, answer.access_token, payload);
      return { ...grantOf(answer), idToken, claims: claimsIn(userClaims), ...sidIn(payload) };
    } catch (error) {
      throw this.logFailure('code', error);
    }
  }

  async renew(refreshToken: string): Promise<ProviderRenewal> {
    const known = await this.provider.get();
    try {
      const answer = await refreshTokenGrant(known.configuration, refreshToken);
      const idToken = answer.id_token;
      if (idToken === undefined) {
        const claims = await this.claimsAt(known, answer.access_token);
        return { kind: 'renewed', grant: { ...grantOf(answer), ...(claims === undefined ? {} : { claims }) } };
      }
      const payload = await this.verifiedIdToken(idToken);
      const userClaims = await this.withUserinfo(known, answer.access_token, payload).catch((error: unknown) => {
        // The tokens are renewed all the same.
        this.logFailure('user', error);
        return payload;
      });
      return { kind: 'renewed', grant: { ...grantOf(answer), idToken, claims: claimsIn(userClaims), ...sidIn(payload) } };
    } catch (error) {
      if (error instanceof ResponseBodyError && error.error === 'invalid_grant') return { kind: 'refused' };
      throw this.logFailure('renewal', error);
    }
  }

  /** Nobody is kept from signing out here by a provider that is away. */
  async endSessionUrl(idToken: string): Promise<URL | undefined> {
    try {
      const { configuration, metadata } = await this.provider.get();
      if (metadata.end_session_endpoint === undefined) return undefined;
      const back = `${this.config.appUrl}/sign-in`;
      return buildEndSessionUrl(configuration, { id_token_hint: idToken, post_logout_redirect_uri: back });
    } catch (error) {
      this.logFailure('end of session', error);
      return undefined;
    }
  }

  async revoke(token: string): Promise<void> {
    try {
      const { configuration, metadata } = await this.provider.get();
      if (metadata.revocation_endpoint !== undefined) await tokenRevocation(configuration, token);
    } catch (error) {
      this.logFailure('revocation', error);
    }
  }

  verify(token: string): Promise<ProviderTokenCheck> {
    return this.tokens.verify(token);
  }

  /** Claims and parties the library has checked, and not the signature: that is done here, by the keys that all tokens are checked by. */
  private async verifiedIdToken(idToken: string): Promise<JsonObject> {
    await compactVerify(idToken, this.keys.find, { algorithms: [...ALGORITHMS] });
    const payload = jwtPart(idToken.split('.')[1]!);
    const issuedAt = payload?.['iat'];
    if (payload === undefined || typeof issuedAt !== 'number' || issuedAt > Date.now() / 1_000 + CLOCK_SKEW) throw notValid();
    return payload;
  }

  /**
   * An id token may leave out what the provider answers about the user (OpenID Connect Core 1.0, section 5.4), which shows by the
   * address: then that is asked for too, and adds what the token does not name. An address and whether it is verified are one claim.
   */
  private async withUserinfo({ configuration, metadata }: KnownProvider, accessToken: string, payload: JsonObject): Promise<JsonObject> {
    if (payload['email'] !== undefined || metadata.userinfo_endpoint === undefined) return payload;
    const { email_verified: _ofNoAddress, ...named } = payload;
    const userClaims = (await fetchUserInfo(configuration, accessToken, payload['sub'] as string)) as unknown as JsonObject;
    return { ...userClaims, ...named };
  }

  /** What the provider answers about the user. One that does not answer this has renewed the tokens all the same. */
  private async claimsAt({ configuration, metadata }: KnownProvider, accessToken: string): Promise<Claims | undefined> {
    if (metadata.userinfo_endpoint === undefined) return undefined;
    try {
      // It is said now, and says no time: without one, a token from before could give back what it takes away.
      const issuedAt = Math.floor(Date.now() / 1_000);
      return { ...claimsIn((await fetchUserInfo(configuration, accessToken, skipSubjectCheck)) as unknown as JsonObject), issuedAt };
    } catch (error) {
      this.logFailure('user', error);
      return undefined;
    }
  }

  private logFailure(what: string, error: unknown): Problem {
    const problem = providerProblem(error);
    if (problem !== error && problem.status >= 500) this.logger.warn({ ...troubleOf(error), what }, 'the identity provider failed');
    return problem;
  }
}

interface Answer {
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly expires_in?: number;
}

function grantOf({ access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn }: Answer) {
  return { accessToken, ...(refreshToken === undefined ? {} : { refreshToken }), ...(expiresIn === undefined ? {} : { expiresIn }) };
}

function claimsIn(payload: JsonObject): Claims {
  const claims = readClaims(payload);
  if ('wrong' in claims) {
    throw new Problem('VALIDATION_FAILED', `The claim ${claims.wrong} of the identity provider has a value that it cannot have.`);
  }
  return claims;
}

function sidIn({ sid }: JsonObject): { readonly sid?: string } {
  return typeof sid === 'string' && sid !== '' && sid.length <= SID_MAX ? { sid } : {};
}

function notValid(): Problem {
  return new Problem('VALIDATION_FAILED', 'The token of the identity provider is not valid.');
}
