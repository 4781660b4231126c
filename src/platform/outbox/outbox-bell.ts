import { Injectable } from '@nestjs/common';

/** Tells this process's worker that a commit left something in the outbox, so that it need not wait for its next look. */
@Injectable()
export class OutboxBell {
  private listener: () => void = () => undefined;

  onRing(listener: () => void): void {
    this.listener = listener;
  }

  ring(): void {
    this.listener();
  }
}
