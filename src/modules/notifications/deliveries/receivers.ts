import { Injectable } from '@nestjs/common';
import { CircuitBreaker } from '../../../platform/outbound/circuit-breaker.js';
import { Semaphore } from '../../../platform/wake/semaphore.js';
import type { Target } from './delivery.store.js';

/** Of one receiver's deliveries, on their way at once. */
export const AT_ONCE = 2;
const MOST = 10_000;

const SLOW_MS = 2_000;

/** Who receives the deliveries of a target, as far as this server has got to know them. */
export class Receiver {
  breaker = new CircuitBreaker();
  readonly slots = new Semaphore(AT_ONCE);
  private pausedUntil = 0;
  private settings: string | undefined;
  /** Whether its last answer took long: only a few such targets are worked off at a time. */
  isSlow = false;

  /** What was learnt of another address says nothing of this one. */
  meet(settings: object | undefined): void {
    const text = JSON.stringify(settings ?? null);
    if (this.settings !== undefined && this.settings !== text) {
      this.breaker = new CircuitBreaker();
      this.pausedUntil = 0;
    }
    this.settings = text;
  }

  answered(tookMs: number): void {
    this.isSlow = tookMs > SLOW_MS;
  }

  /** The receiver asked not to be called for so long. */
  pause(ms: number): void {
    this.pausedUntil = Math.max(this.pausedUntil, performance.now() + ms);
  }

  get isResting(): boolean {
    return performance.now() < this.pausedUntil || this.breaker.isOpen;
  }
}

/** The receivers of targets: mail has one server for all organizations. */
@Injectable()
export class Receivers {
  private readonly known = new Map<string, Receiver>();

  of({ organizationId, channel }: Target): Receiver {
    const key = channel === 'email' ? 'email' : `${organizationId} ${channel}`;
    let receiver = this.known.get(key);
    if (receiver === undefined) {
      // The oldest goes: at worst a receiver that fails is asked once more than it need be.
      if (this.known.size >= MOST) this.known.delete(this.known.keys().next().value!);
      receiver = new Receiver();
      this.known.set(key, receiver);
    }
    return receiver;
  }
}
