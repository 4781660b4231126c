import { Injectable } from '@nestjs/common';

/**
 * Whether the log has been without an anchor for longer than the installation allows (AUDIT_UNANCHORED_MAX_SECONDS). In memory, so that
 * the gate may ask at every call; whoever watches the anchors says so here.
 */
@Injectable()
export class AnchorFreshness {
  private stale = false;

  get isStale(): boolean {
    return this.stale;
  }

  set(isStale: boolean): void {
    this.stale = isStale;
  }
}
