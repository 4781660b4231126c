import { Injectable } from '@nestjs/common';
import type { SessionRef } from './sessions.js';

/**
 * Rung, in this process, where a session is used whose provider's tokens are due to be renewed. It says no more than that somebody
 * could look: any number of calls may ring for one session, on any number of replicas.
 */
@Injectable()
export class RenewalSignal {
  private listener: ((session: SessionRef) => void) | undefined;

  /** @param listener returns at once, and does not fail */
  listen(listener: (session: SessionRef) => void): void {
    this.listener = listener;
  }

  ring(session: SessionRef): void {
    this.listener?.(session);
  }
}
