import { Injectable } from '@nestjs/common';

/** Tells this process's delivery worker that there is something to deliver, so that it need not wait for its next look. */
@Injectable()
export class DeliverySignal {
  private listener: (() => void) | undefined;

  listen(listener: () => void): void {
    this.listener = listener;
  }

  notify(): void {
    this.listener?.();
  }
}
