import { Inject, Injectable } from '@nestjs/common';
import {
  allowInsecureRequests, ClientSecretPost, Configuration, customFetch, discovery, None, type ServerMetadata,
} from 'openid-client';
import type { Logger } from 'pino';
import { CONFIG, type CompleteConfig } from '../../../../platform/config/config.js';
import { Problem } from '../../../../platform/http/reply/problem.js';
import { LOGGER } from '../../../../platform/logging/token.js';
import { PROVIDER_TIMEOUT_MS, ProviderFetch } from './provider-fetch.js';
import { troubleOf } from './provider-problems.js';
import { RefreshingCache } from './refreshing-cache.js';

/**
 * By which the provider's tokens may be signed: RSA and elliptic curves, with a key of the provider's that is public. What the provider
 * says it uses can only narrow this (RFC 8725, section 3.1).
 */
export const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'] as const;

const MINUTE_MS = 60_000;

/** The provider as it describes itself (OpenID Connect Discovery 1.0), and this service as its client. */
export interface KnownProvider {
  readonly configuration: Configuration;
  readonly metadata: ServerMetadata;
}

/** What the provider can do: read when it is needed first, again after ten minutes, and used on while it cannot be read again. */
@Injectable()
export class ProviderMetadata {
  private readonly known: RefreshingCache<KnownProvider>;

  constructor(
    @Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'oidcIssuer' | 'oidcClientId' | 'oidcClientSecret'>,
    private readonly calls: ProviderFetch,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.known = new RefreshingCache(() => this.discover(), {
      freshMs: 10 * MINUTE_MS,
      usableMs: Infinity,
      onFailure: (error) => logger.warn(troubleOf(error), 'the identity provider cannot be asked what it can do'),
    });
  }

  get issuer(): string | undefined {
    return this.config.oidcIssuer;
  }

  /** @throws Problem NOT_FOUND where there is no provider; UNAVAILABLE while it was never reached */
  async get(): Promise<KnownProvider> {
    if (this.issuer === undefined) throw new Problem('NOT_FOUND', 'This installation has no identity provider.');
    return this.known.get();
  }

  private async discover(): Promise<KnownProvider> {
    const { oidcClientId: id = '', oidcClientSecret: secret } = this.config;
    const auth = secret === undefined ? None() : ClientSecretPost(secret);
    const insecure = this.issuer!.startsWith('http:') ? [allowInsecureRequests] : [];
    const options = { execute: insecure, timeout: PROVIDER_TIMEOUT_MS / 1_000, [customFetch]: this.calls.fetch };
    const found = (await discovery(new URL(this.issuer!), id, undefined, auth, options)).serverMetadata();
    // Of one provider there is one issuer: some answer for many, with a name that holds a blank to be filled in.
    if (new URL(found.issuer).href !== new URL(this.issuer!).href) throw new Error('the provider calls itself otherwise');
    const offered = found.id_token_signing_alg_values_supported ?? ['RS256'];
    // With nothing pinned the library takes whatever the provider lists.
    const pinned = offered.filter((alg) => ALGORITHMS.some((one) => one === alg));
    if (pinned.length === 0) throw new Error('the provider signs by no algorithm that is taken here');
    const metadata = { ...found, id_token_signing_alg_values_supported: pinned } as unknown as ServerMetadata;
    const configuration = new Configuration(metadata, id, undefined, auth);
    configuration[customFetch] = this.calls.fetch;
    configuration.timeout = PROVIDER_TIMEOUT_MS / 1_000;
    for (const apply of insecure) apply(configuration);
    return { configuration, metadata };
  }
}
