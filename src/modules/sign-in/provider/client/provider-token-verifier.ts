import { hash, KeyObject } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { CompactJWSHeaderParameters } from 'jose';
import { Strategy } from 'passport-jwt';
import { readClaims } from '../../../../domain/access/claims.js';
import { CONFIG, type CompleteConfig } from '../../../../platform/config/config.js';
import { Problem } from '../../../../platform/http/reply/problem.js';
import type { ProviderTokenCheck } from '../../ports/provider-client.js';
import { CLOCK_SKEW, readJwt, type ReadJwt, whyNoCredential } from './provider-jwt.js';
import { ProviderKeys } from './provider-keys.js';
import { ALGORITHMS, ProviderMetadata } from './provider-metadata.js';

type Verified = Extract<ProviderTokenCheck, { ok: true }>;

interface Shown {
  readonly token: string;
  readonly header: CompactJWSHeaderParameters;
}

const CAPACITY = 10_000;

/**
 * Tokens of the provider as credentials. A token's claims are checked before any key is looked for; then its signature, by a key of the
 * provider's alone and by the algorithms that are accepted here; then whether the token was made for this service. Good tokens are kept
 * by their digest, as long as the provider's keys are the same.
 */
@Injectable()
export class ProviderTokenVerifier {
  private readonly verified = new Map<string, Verified>();
  private version = 0;

  constructor(
    @Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'oidcAudience'>,
    private readonly provider: ProviderMetadata,
    private readonly keys: ProviderKeys,
  ) {}

  /** @throws Problem UNAVAILABLE while the provider's keys are not to be had */
  async verify(token: string): Promise<ProviderTokenCheck> {
    const read = readJwt(token);
    if (typeof read === 'string') return { ok: false, reason: read };
    const version = await this.keys.version();
    if (version !== this.version) this.verified.clear();
    this.version = version;
    const digest = hash('sha256', token, 'base64');
    const known = this.verified.get(digest);
    if (known === undefined) return this.judge(token, read, digest, version);
    return known.expiresAt > Date.now() / 1_000 ? known : { ok: false, reason: 'the token has expired' };
  }

  private async judge(token: string, read: ReadJwt, digest: string, version: number): Promise<ProviderTokenCheck> {
    const { metadata } = await this.provider.get();
    const parties = { issuer: metadata.issuer, audience: this.config.oidcAudience! };
    const reason = whyNoCredential(read, parties, Date.now() / 1_000);
    if (reason !== undefined) return { ok: false, reason };
    if (!(await this.isSigned({ token, header: read.header as unknown as CompactJWSHeaderParameters }, parties))) {
      return { ok: false, reason: 'the signature does not hold' };
    }
    const claims = readClaims(read.claims);
    if ('wrong' in claims) return { ok: false, reason: `the claim ${claims.wrong} is not valid` };
    const verified: Verified = { ok: true, claims, expiresAt: read.claims['exp'] as number };
    // Not kept where the keys have changed while the token was verified.
    if (this.version === version) this.keep(digest, verified);
    return verified;
  }

  private isSigned(shown: Shown, { issuer, audience }: { issuer: string; audience: string }): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const strategy = new Strategy(
        {
          jwtFromRequest: (request) => (request as unknown as Shown).token,
          secretOrKeyProvider: (_request, _token, done) => {
            this.keys.find(shown.header).then((key) => done(null, KeyObject.from(key) as unknown as Buffer), done);
          },
          issuer, audience, algorithms: [...ALGORITHMS],
          jsonWebTokenOptions: { clockTolerance: CLOCK_SKEW },
        },
        (claims: unknown, done) => done(null, claims as object),
      );
      strategy.success = () => resolve(true);
      // Where the keys cannot be read, nothing is known of the token.
      strategy.fail = (why: unknown) => (why instanceof Problem ? reject(why) : resolve(false));
      strategy.error = reject;
      strategy.authenticate(shown as never);
    });
  }

  private keep(digest: string, verified: Verified): void {
    if (this.verified.size >= CAPACITY) this.verified.delete(this.verified.keys().next().value!);
    this.verified.set(digest, verified);
  }
}
