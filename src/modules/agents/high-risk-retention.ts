import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleInit } from '@nestjs/common';
import type { Logger } from 'pino';
import { ReadinessFacts, type ReadinessFact } from '../../platform/audit/readiness-facts.js';
import { scopeOfEverything } from '../../platform/auth/access/scope.js';
import { CONFIG, type CompleteConfig } from '../../platform/config/config.js';
import { LOGGER } from '../../platform/logging/token.js';
import { AgentsQuery } from './agents.query.js';

/** Ten years: how long the documentation of a high-risk system is to be at hand (Regulation (EU) 2024/1689, article 18). */
const ADVISED_DAYS = 3_660;

/** Says so when the log of high-risk agents is kept for a shorter time than is advised. */
@Injectable()
export class HighRiskRetention implements ReadinessFact, OnModuleInit, OnApplicationBootstrap {
  readonly name = 'highRiskRetention';

  constructor(
    private readonly agents: AgentsQuery,
    private readonly facts: ReadinessFacts,
    @Inject(CONFIG) private readonly config: CompleteConfig,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.facts.register(this);
  }

  async onApplicationBootstrap(): Promise<void> {
    // A failure is left to readiness, which asks again.
    const { highRiskRetentionWarning } = await this.look().catch(() => ({ highRiskRetentionWarning: undefined }));
    if (highRiskRetentionWarning !== undefined) this.logger.warn(highRiskRetentionWarning);
  }

  async look(): Promise<Record<string, string>> {
    const { auditRetentionDays: days } = this.config;
    if (days === undefined || days >= ADVISED_DAYS || !(await this.agents.hasHighRisk(scopeOfEverything()))) return {};
    const warning = `AUDIT_RETENTION_DAYS is ${days}: ${ADVISED_DAYS} are advised while there are agents of high risk.`;
    return { highRiskRetentionWarning: warning };
  }
}
