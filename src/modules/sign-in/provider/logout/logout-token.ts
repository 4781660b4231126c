import { Inject, Injectable } from '@nestjs/common';
import { errors, jwtVerify } from 'jose';
import { CONFIG, type CompleteConfig } from '../../../../platform/config/config.js';
import { ProviderKeys } from '../client/provider-keys.js';
import { ALGORITHMS, ProviderMetadata } from '../client/provider-metadata.js';

/** What the member `events` of a logout token must name (OpenID Connect Back-Channel Logout 1.0, section 2.4). */
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const TYPES: readonly unknown[] = [undefined, 'logout+jwt', 'application/logout+jwt', 'JWT'];
/** Seconds: how old one may be, and how far ahead the provider's clock. */
const OLDEST = 120;
const AHEAD = 30;
const TEXT_MAX = 255;

/** Whose sessions the provider has ended: one of its own, or all of a user's. */
export interface AskedLogout {
  readonly sid?: string;
  readonly sub?: string;
  /** The token's own name, by which it is taken once. */
  readonly id: string;
  /** When it would be too old. */
  readonly until: Date;
}

export interface LogoutToken extends AskedLogout {
  readonly issuer: string;
}

/**
 * Logout tokens of the provider (OpenID Connect Back-Channel Logout 1.0, section 2.6). Anybody can send one, so it must hold like a
 * credential: signed by the provider, for this client, made just now, and for this and nothing else.
 */
@Injectable()
export class LogoutTokens {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'oidcClientId'>,
    private readonly provider: ProviderMetadata,
    private readonly keys: ProviderKeys,
  ) {}

  /**
   * @returns undefined for one that does not hold
   * @throws Problem NOT_FOUND without a provider; UNAVAILABLE while its keys are not to be had
   */
  async verify(token: string): Promise<LogoutToken | undefined> {
    const { metadata } = await this.provider.get();
    try {
      const { payload, protectedHeader } = await jwtVerify(token, this.keys.find, {
        algorithms: [...ALGORITHMS], issuer: metadata.issuer, audience: this.config.oidcClientId!, requiredClaims: ['iat', 'jti'],
      });
      const asked = TYPES.includes(protectedHeader.typ) ? readLogout(payload, Date.now() / 1_000) : undefined;
      return asked && { ...asked, issuer: this.provider.issuer! };
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }
}

/**
 * What a token whose signature holds asks for. An id token, which names no event and may hold a nonce, is none.
 *
 * @param now Unix seconds
 */
export function readLogout(claims: Readonly<Record<string, unknown>>, now: number): AskedLogout | undefined {
  const { iat, jti, sid, sub, events, nonce } = claims;
  if (typeof iat !== 'number' || iat > now + AHEAD || iat < now - OLDEST) return undefined;
  if (nonce !== undefined || !isText(jti) || !namesLogout(events)) return undefined;
  if ((sid === undefined && sub === undefined) || !(sid === undefined || isText(sid)) || !(sub === undefined || isText(sub))) {
    return undefined;
  }
  return {
    id: jti, until: new Date((iat + OLDEST) * 1_000), ...(sid === undefined ? {} : { sid }), ...(sub === undefined ? {} : { sub }),
  };
}

function namesLogout(events: unknown): boolean {
  if (typeof events !== 'object' || events === null || !Object.hasOwn(events, LOGOUT_EVENT)) return false;
  const member = (events as Record<string, unknown>)[LOGOUT_EVENT];
  return typeof member === 'object' && member !== null && !Array.isArray(member);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= TEXT_MAX;
}
