import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { Logger } from 'pino';
import { StatementsOnPool } from '../../../platform/database/statements/statements-on-pool.js';
import { LOGGER } from '../../../platform/logging/token.js';
import { idOfFingerprint } from '../../../platform/secrets/fingerprint.js';
import { keptFingerprint } from '../../organizations/installation/fingerprints.store.js';
import { parseKept } from '../../organizations/installation/kept-fingerprint.js';
import { AgentTokens } from './agent-tokens.js';

const LOOK_EVERY_MS = 1_000;

/** While a server accepts two secrets for tokens: within a second of the commit it refuses the one that has leaked, without a restart. */
@Injectable()
export class LeakedSecrets implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;

  constructor(
    private readonly tokens: AgentTokens,
    private readonly pool: StatementsOnPool,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.tokens.acceptsAnother) return;
    this.timer = setInterval(() => (this.looking ??= this.look().finally(() => (this.looking = undefined))), LOOK_EVERY_MS);
  }

  async onModuleDestroy(): Promise<void> {
    clearInterval(this.timer);
    await this.looking;
  }

  private async look(): Promise<void> {
    try {
      const kept = await keptFingerprint(this.pool.run, 'JWT_SECRET');
      this.tokens.drop(parseKept(kept ?? '').leaked.map(idOfFingerprint));
      if (!this.tokens.acceptsAnother) clearInterval(this.timer);
    } catch (error) {
      this.logger.debug({ err: error }, 'whether a secret has leaked cannot be asked while the database is away');
    }
  }
}
