import { Injectable } from '@nestjs/common';

/**
 * Whether the log has been without an anchor for longer than the installation allows (AUDIT_UNANCHORED_MAX_SECONDS). Kept in memory, so
 * that the gate may ask at every call. The service that watches the anchors sets the time.
 */
@Injectable()
export class AnchorFreshness {
  private staleFrom: number | undefined;

  get isStale(): boolean {
    return this.staleFrom !== undefined && Date.now() >= this.staleFrom;
  }

  /** @param from by this server's clock, in milliseconds; undefined while nothing waits for an anchor */
  set(from: number | undefined): void {
    this.staleFrom = from;
  }
}
