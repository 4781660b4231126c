import { Injectable } from '@nestjs/common';
import { ReadinessFacts, type ReadinessFact } from '../../../platform/audit/readiness-facts.js';
import { ReservedPool } from '../../../platform/database/reserved-pool.js';
import { ChannelStore } from './channel.store.js';

/** Readiness is asked every few seconds, and keys change at a restart. */
const LOOK_EVERY_MS = 30_000;

/** Says how many channels are off though they are set, since their settings do not open with this ENCRYPTION_KEY. */
@Injectable()
export class ChannelsReadiness implements ReadinessFact {
  readonly name = 'channels';
  private known = { count: 0, until: -Infinity };

  constructor(
    private readonly store: ChannelStore,
    private readonly reserve: ReservedPool,
    facts: ReadinessFacts,
  ) {
    facts.register(this);
  }

  async look(): Promise<Record<string, number>> {
    const now = performance.now();
    if (now >= this.known.until) this.known = { count: await this.store.countUnreadable(this.reserve.run), until: now + LOOK_EVERY_MS };
    return { unreadableChannels: this.known.count };
  }
}
