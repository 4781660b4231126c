import { Socket } from 'node:net';

/**
 * Sends what is written in one round of the event loop in one piece: statements that are sent in one go would otherwise each cost a
 * call to the system, which is dearer than most of them are. For pg's `stream` option; a connection by TLS writes as ever.
 */
export class CoalescingSocket extends Socket {
  private isGathering = false;

  override cork(): void {
    super.cork();
    if (this.isGathering) return;
    this.isGathering = true;
    super.cork();
    process.nextTick(() => {
      this.isGathering = false;
      super.uncork();
    });
  }
}
