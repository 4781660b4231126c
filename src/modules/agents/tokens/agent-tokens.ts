import { createSecretKey, hash, type KeyObject, randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { JwtService } from '@nestjs/jwt';
import { isId } from '../../../domain/ids.js';
import { jwtPart } from '../../../platform/auth/credentials/jwt-parts.js';
import type { AgentPrincipal } from '../../../platform/auth/access/principal.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { keyIdOf } from '../../../platform/secrets/fingerprint.js';
import type { AgentEntity } from '../agent.entity.js';

export interface IssuedToken {
  token: string;
  tokenId: string;
  expiresAt: Date;
}

export interface Vouching {
  /** Unix seconds at which somebody last vouched for the agent. */
  at: number;
  by: string;
  /** The agent key that the token is exchanged for: the token ends with it, and so at the latest when the key expires. */
  key?: { readonly id: string; readonly expiresAt: Date | undefined };
}

export type AgentTokenCheck = { ok: true; principal: AgentPrincipal } | { ok: false; reason: string };

const AUDIENCE = 'countersign';
const DEFAULT_ISSUER = 'countersign';
/** Seconds that `iat` may lie ahead of this server's clock. `exp` has no leeway. */
const CLOCK_SKEW = 30;
const CACHE_SIZE = 10_000;
const HEADER = { alg: 'HS256', typ: 'JWT' } as const;
/** Three base64url parts; the signature of HS256 has 32 bytes, so 43 characters of which the last has four choices. */
const FORM = /^[A-Za-z0-9_-]{2,256}\.[A-Za-z0-9_-]{2,16384}\.[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

/** A key that tokens are verified by, and the id that they name it by (`kid`). */
interface TokenKey {
  readonly id: string;
  readonly key: KeyObject;
}

/**
 * Agent tokens (interface, section 5): HS256 and nothing else. Verified claims are kept in a bounded cache by the token's
 * digest; whether they still hold is asked of the database at every call.
 */
@Injectable()
export class AgentTokens {
  /** The first one signs. */
  private keys: readonly TokenKey[];
  private readonly issuer: string;
  private readonly verified = new Map<string, AgentPrincipal>();

  constructor(
    private readonly jwt: JwtService,
    @Inject(CONFIG) private readonly config: CompleteConfig,
  ) {
    // A string secret is turned into a key at every call, which costs forty times the signature itself.
    this.keys = [config.jwtSecret, config.jwtSecretAccepted].filter((secret) => secret !== undefined).map((secret) => ({
      id: keyIdOf(secret), key: createSecretKey(Buffer.from(secret, 'utf8')),
    }));
    this.issuer = config.jwtIssuer ?? DEFAULT_ISSUER;
  }

  /** @throws Problem UNAUTHENTICATED where the key that it is exchanged for ends within this second */
  issue(agent: Pick<AgentEntity, 'id' | 'organizationId' | 'epoch'>, capabilities: string[], vouching: Vouching): IssuedToken {
    const issuedAt = Math.floor(Date.now() / 1000);
    const keyEnd = vouching.key?.expiresAt === undefined ? Infinity : Math.floor(vouching.key.expiresAt.getTime() / 1000);
    const expires = Math.min(issuedAt + this.config.agentJwtTtl, keyEnd);
    // Times of tokens are whole seconds: in its last one a key has no second left to give.
    if (expires <= issuedAt) throw new Problem('UNAUTHENTICATED', 'The agent key has expired.');
    const tokenId = randomUUID();
    const claims = {
      sub: agent.id, agent_id: agent.id, org_id: agent.organizationId, capabilities, iat: issuedAt, exp: expires,
      iss: this.issuer, aud: AUDIENCE, jti: tokenId, epoch: agent.epoch,
      // By the database's clock it may lie a moment ahead of ours.
      auth_time: Math.min(vouching.at, issuedAt), vch: vouching.by,
      ...(vouching.key === undefined ? {} : { key_id: vouching.key.id }),
    };
    const [{ id: keyid, key }] = this.keys as readonly [TokenKey];
    const token = this.jwt.sign(claims, { secret: key as unknown as Buffer, algorithm: 'HS256', keyid });
    return { token, tokenId, expiresAt: new Date(expires * 1000) };
  }

  /**
   * Form, signature and times of a token.
   *
   * @param lateBy seconds after its expiry for which a token is still taken; for refreshing only
   */
  verify(token: string, lateBy = 0): AgentTokenCheck {
    const digest = hash('sha256', token, 'base64');
    let principal = this.verified.get(digest);
    if (!principal) {
      const checked = this.read(token);
      if (!checked.ok) return checked;
      principal = checked.principal;
      if (this.verified.size >= CACHE_SIZE) this.verified.delete(this.verified.keys().next().value!);
      this.verified.set(digest, principal);
    }
    if (Date.now() >= (principal.expiresAt + lateBy) * 1000) return { ok: false, reason: 'the token has expired' };
    return { ok: true, principal };
  }

  /** Whether there is another key than the one that signs. */
  get acceptsAnother(): boolean {
    return this.keys.length > 1;
  }

  /** From here on tokens by a key that has leaked are refused; where it was the one that signs, the other one does. */
  drop(leaked: readonly string[]): void {
    const left = this.keys.filter(({ id }) => !leaked.includes(id));
    if (left.length === this.keys.length || left.length === 0) return;
    this.keys = left;
    this.verified.clear();
  }

  private read(token: string): AgentTokenCheck {
    if (!FORM.test(token)) return { ok: false, reason: 'not a token of this service' };
    const header = jwtPart(token.split('.')[0]!);
    const { kid, ...kind } = header ?? {};
    if (Object.keys(kind).some((name) => kind[name] !== HEADER[name as keyof typeof HEADER]) || kind.alg !== 'HS256') {
      return { ok: false, reason: 'a token of another kind' };
    }
    // One that somebody else signed with the secret need not name it.
    const keys = kid === undefined ? this.keys : this.keys.filter(({ id }) => id === kid);
    if (keys.length === 0) return { ok: false, reason: 'its key does not count here any more: get a new token' };
    if (!keys.some(({ key }) => this.isBy(key, token))) return { ok: false, reason: 'the signature does not hold' };
    const claims = jwtPart(token.split('.')[1]!);
    return claims ? this.principalOf(claims) : { ok: false, reason: 'the claims are not valid' };
  }

  private isBy(key: KeyObject, token: string): boolean {
    try {
      const secret = key as unknown as Buffer;
      this.jwt.verify(token, { secret, algorithms: ['HS256'], ignoreExpiration: true, clockTolerance: CLOCK_SKEW });
      return true;
    } catch {
      return false;
    }
  }

  /** Claims the interface names are required; ours may be absent on a token that somebody else signed with the secret. */
  private principalOf(claims: Record<string, unknown>): AgentTokenCheck {
    const wrong = (claim: string): AgentTokenCheck => ({ ok: false, reason: `the claim ${claim} is not valid` });
    const { sub, agent_id: agentId, org_id: organizationId, tenant_id: tenantId, capabilities, iat, exp } = claims;
    const { iss, aud, jti, epoch, auth_time: authTime, vch, key_id: keyId } = claims;
    if (!isId('agt', agentId)) return wrong('agent_id');
    if (sub !== agentId) return wrong('sub');
    if (!isId('org', organizationId)) return wrong('org_id');
    // That it is the organization's is compared with the record, as the epoch is.
    if (tenantId !== undefined && !isId('ten', tenantId)) return wrong('tenant_id');
    if (!isTextList(capabilities)) return wrong('capabilities');
    if (!isTime(iat) || iat > Date.now() / 1000 + CLOCK_SKEW) return wrong('iat');
    if (!isTime(exp) || exp <= iat || exp - iat > this.config.agentJwtMax) return wrong('exp');
    const strict = this.config.jwtIssuer !== undefined;
    if (iss === undefined ? strict : iss !== this.issuer) return wrong('iss');
    if (aud === undefined ? strict : aud !== AUDIENCE) return wrong('aud');
    if (jti === undefined ? strict : typeof jti !== 'string' || jti === '') return wrong('jti');
    if (epoch === undefined ? strict : !isTime(epoch)) return wrong('epoch');
    if (authTime === undefined ? strict : !isTime(authTime) || authTime > iat) return wrong('auth_time');
    if (vch !== undefined && typeof vch !== 'string') return wrong('vch');
    if (keyId !== undefined && !isId('key', keyId)) return wrong('key_id');
    return {
      ok: true,
      principal: {
        kind: 'agent', credential: 'token', agentId, organizationId, capabilities, epoch: (epoch as number | undefined) ?? 0,
        expiresAt: exp, issuedAt: iat,
        authTime: (authTime as number | undefined) ?? iat,
        ...(typeof jti === 'string' ? { tokenId: jti } : {}),
        ...(typeof vch === 'string' ? { vouchedBy: vch } : {}),
        ...(keyId === undefined ? {} : { keyId }),
        ...(tenantId === undefined ? {} : { tenantId }),
      },
    };
  }
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.length <= 1_000 && value.every((item) => typeof item === 'string' && item.length <= 200);
}
