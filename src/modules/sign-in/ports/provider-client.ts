import type { Claims } from '../../../domain/access/claims.js';

/** What a browser keeps between setting out for the provider and coming back. */
export interface LoginChecks {
  readonly state: string;
  readonly nonce: string;
  /** The verifier of PKCE (RFC 7636). */
  readonly verifier: string;
}

/** What the provider has granted, its id token verified. */
export interface ProviderGrant {
  readonly accessToken: string;
  readonly refreshToken?: string;
  readonly idToken: string;
  /** Seconds for which the access token is good, where the provider says it. */
  readonly expiresIn?: number;
  readonly claims: Claims;
  /** The provider's own session. */
  readonly sid?: string;
}

/**
 * A renewal need bring no new id token: then the claims are those of the provider's answer about the user, or none, where it gives no
 * such answer. Whoever renews sees to it that they are the same user's.
 */
export type ProviderRenewal =
  | {
      readonly kind: 'renewed';
      readonly grant: Omit<ProviderGrant, 'idToken' | 'claims'> & { readonly idToken?: string; readonly claims?: Claims };
    }
  /** The provider takes this refresh token for dead (`invalid_grant`): whoever it is of has to sign in again. */
  | { readonly kind: 'refused' };

/** What a token of the provider says, or why it is none; the reason is of our own words. */
export type ProviderTokenCheck =
  | { readonly ok: true; readonly claims: Claims; /** Unix seconds. */ readonly expiresAt: number }
  | { readonly ok: false; readonly reason: string };

/** The one identity provider of the installation. None of it is called inside of a unit of work: it may take its time. */
export abstract class ProviderClient {
  /** Its `iss`, as OIDC_ISSUER names it; undefined where there is no provider. */
  abstract readonly issuer: string | undefined;

  /** @throws Problem UNAVAILABLE while the provider cannot be asked what it can do */
  abstract authorizationUrl(checks: LoginChecks): Promise<URL>;

  /**
   * @param callback OIDC_REDIRECT_URI with the query string that came: never what the request says of its host
   * @throws Problem VALIDATION_FAILED for a code, a state or a token that does not hold; PROVIDER_ERROR, PROVIDER_TIMEOUT, UNAVAILABLE
   */
  abstract exchange(callback: URL, checks: LoginChecks): Promise<ProviderGrant>;

  /** @throws Problem PROVIDER_ERROR, PROVIDER_TIMEOUT, UNAVAILABLE: nobody knows then whether the refresh token is still good */
  abstract renew(refreshToken: string): Promise<ProviderRenewal>;

  /** Where a browser ends the provider's session too; undefined where the provider has no such page. */
  abstract endSessionUrl(idToken: string): Promise<URL | undefined>;

  /** Best effort: what cannot be revoked ends by itself. */
  abstract revoke(token: string): Promise<void>;

  /** A token that somebody shows as a credential. @throws Problem UNAVAILABLE while its keys are not to be had */
  abstract verify(token: string): Promise<ProviderTokenCheck>;
}
