import { Inject, Injectable } from '@nestjs/common';
import { AnchorFreshness } from '../../../platform/audit/anchor-freshness.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import type { AnchorState } from './anchor-state.query.js';

/**
 * For how long something has stood in the log that not every anchor knows: a checkpoint, or an entry that has none. By this server's
 * clock from the first sight on, so that it goes on while the database is away.
 */
@Injectable()
export class UnanchoredAge {
  /** `commits` when the newest checkpoint was first seen, and when the first commit was seen that it cannot have. */
  private behind: { readonly size: number; readonly commits: number; since?: number } | undefined;
  private since: number | undefined;

  constructor(
    private readonly freshness: AnchorFreshness,
    @Inject(CONFIG) private readonly config: CompleteConfig,
  ) {}

  /** 0 while there is nothing that waits. */
  get seconds(): number {
    return this.since === undefined ? 0 : Math.max(0, Math.floor((Date.now() - this.since) / 1000));
  }

  measure({ newest, commits, now, unanchoredSince }: AnchorState): void {
    const size = newest?.size ?? 0;
    // Where nothing was signed yet, all of it waits.
    if (this.behind?.size !== size) this.behind = { size, commits: size === 0 ? 0 : commits };
    if (commits > this.behind.commits) this.behind.since ??= Date.now();
    const checkpointed = unanchoredSince ? Date.now() - (now.getTime() - unanchoredSince.getTime()) : undefined;
    const all = [checkpointed, this.behind.since].filter((time) => time !== undefined);
    this.since = all.length === 0 ? undefined : Math.min(...all);
  }

  /** Passes the time on to the gate. */
  pass(): void {
    const { auditUnanchoredMaxSeconds: most } = this.config;
    // From the first whole second above the limit on, as readiness counts them.
    this.freshness.set(most === undefined || this.since === undefined ? undefined : this.since + (most + 1) * 1_000);
  }
}
