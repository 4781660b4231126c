import { Inject, Injectable } from '@nestjs/common';
import { type CompactJWSHeaderParameters, createLocalJWKSet, type CryptoKey, errors, type JSONWebKeySet } from 'jose';
import type { Logger } from 'pino';
import { LOGGER } from '../../../../platform/logging/token.js';
import { ProviderFetch } from './provider-fetch.js';
import { ProviderMetadata } from './provider-metadata.js';
import { troubleOf } from './provider-problems.js';
import { RefreshingCache } from './refreshing-cache.js';

const MINUTE_MS = 60_000;
/** Keys that nobody knows are looked for so often: a few times at once, and then once in half a minute. */
const LOOKS = { atOnce: 3, everyMs: 30_000 } as const;

interface KnownKeys {
  readonly find: ReturnType<typeof createLocalJWKSet>;
  /** The text that the keys were read from, by which a change is seen. */
  readonly text: string;
}

/**
 * The provider's public keys (RFC 7517). A rotation costs one fetch, since a key that is not known makes them be read anew; tokens with
 * made-up keys cost one in half a minute, however many come.
 */
@Injectable()
export class ProviderKeys {
  private readonly known: RefreshingCache<KnownKeys>;
  private readonly looks = new Looks(LOOKS.atOnce, LOOKS.everyMs);
  private looking: Promise<void> | undefined;
  private changes = 0;
  private text: string | undefined;

  constructor(
    private readonly provider: ProviderMetadata,
    private readonly calls: ProviderFetch,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.known = new RefreshingCache(() => this.read(), {
      freshMs: 10 * MINUTE_MS,
      // Tokens live about as long, and a provider that is away makes no new ones.
      usableMs: 60 * MINUTE_MS,
      onFailure: (error) => logger.warn(troubleOf(error), 'the keys of the identity provider cannot be read'),
    });
  }

  /**
   * Reads the keys where it is time to.
   *
   * @returns a number that changes when they do: what an earlier one has verified is verified again
   * @throws Problem UNAVAILABLE while they are not to be had
   */
  async version(): Promise<number> {
    await this.known.get();
    return this.changes;
  }

  /**
   * The key that a token's header names; in the form in which jose asks for one.
   *
   * @throws JOSEError where there is none, or more than one; Problem UNAVAILABLE
   */
  readonly find = async (header: CompactJWSHeaderParameters): Promise<CryptoKey> => {
    const before = await this.known.get();
    try {
      return await before.find(header);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // Of many who miss the same new key one looks; the others have it by that look, also those who come a moment behind it.
      if (this.looking === undefined && (await this.known.get()) === before) {
        if (!this.looks.take()) throw error;
        this.looking = this.known.renew().finally(() => {
          this.looking = undefined;
        });
      }
      await this.looking;
      return (await this.known.get()).find(header);
    }
  };

  private async read(): Promise<KnownKeys> {
    const { metadata } = await this.provider.get();
    if (metadata.jwks_uri === undefined) throw new Error('the provider names no address of its keys');
    const answer = await this.calls.fetch(metadata.jwks_uri, { headers: { accept: 'application/json, application/jwk-set+json' } });
    if (answer.status !== 200) throw new Error(`the provider's keys: status ${answer.status}`);
    const text = await answer.text();
    const find = createLocalJWKSet(JSON.parse(text) as JSONWebKeySet);
    if (text !== this.text) this.changes++;
    this.text = text;
    return { find, text };
  }
}

/** A few at once, then one for each span of time. */
export class Looks {
  private left: number;
  private since: number;

  constructor(
    private readonly atOnce: number,
    private readonly everyMs: number,
    private readonly clock: () => number = () => performance.now(),
  ) {
    this.left = atOnce;
    this.since = clock();
  }

  take(): boolean {
    const spans = Math.floor((this.clock() - this.since) / this.everyMs);
    if (this.left + spans >= this.atOnce) {
      this.left = this.atOnce;
      this.since = this.clock();
    } else {
      this.left += spans;
      this.since += spans * this.everyMs;
    }
    if (this.left === 0) return false;
    this.left--;
    return true;
  }
}
