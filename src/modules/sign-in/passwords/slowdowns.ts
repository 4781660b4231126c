import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/database/tx.js';
import { Problem } from '../../../platform/http/problem.js';
import { addressSubject } from '../../../platform/rate-limit/subjects.js';
import { SealedBox } from '../../../platform/secrets/sealed-box.js';
import { SlowdownStore, type SlowdownTerms } from './slowdown.store.js';

const DAY_SECONDS = 86_400;

/** Of an account: five attempts, then pauses of 1, 2, 4 … 900 seconds, until nobody has tried for a day. */
const OF_ACCOUNT: SlowdownTerms = { free: 5, remembered: DAY_SECONDS, then: { pauseToSeconds: 900 } };
/** Of a network address, whichever accounts it tries: twenty a minute. */
const OF_ADDRESS: SlowdownTerms = { free: 20, remembered: 60, then: 'window' };

/** Whom attempts are counted for. Only digests of it are kept. */
interface Counted {
  readonly subject: string;
  readonly terms: SlowdownTerms;
}

/** An attempt that was counted and may be judged. */
export interface CountedAttempt {
  readonly counted: readonly Counted[];
}

/** Slows guessing down, for all servers together. Whoever is too early is told so at once: nobody is kept waiting. */
@Injectable()
export class Slowdowns {
  constructor(
    private readonly store: SlowdownStore,
    private readonly box: SealedBox,
  ) {}

  /**
   * An attempt to sign in. Where somebody has signed in of late, what strangers try does not count, nor what others try from the same
   * address: nobody is locked out by them. Their own attempts from there are counted instead.
   *
   * @param isKnown whether the account has been signed in to from this address of late
   * @throws Problem RATE_LIMITED with `Retry-After`
   */
  takeSignIn(tx: Tx, account: string, address: string | undefined, isKnown: boolean): Promise<CountedAttempt> {
    const network = addressSubject(address);
    if (isKnown) return this.take(tx, [{ subject: this.box.mac('slow-downs', 'account at', account, network), terms: OF_ACCOUNT }]);
    return this.take(tx, [
      { subject: this.box.mac('slow-downs', 'account', account), terms: OF_ACCOUNT },
      { subject: this.box.mac('slow-downs', 'address', network), terms: OF_ADDRESS },
    ]);
  }

  /** An attempt to say one's present password within a session. @throws Problem RATE_LIMITED with `Retry-After` */
  takeOwn(tx: Tx, userId: string): Promise<CountedAttempt> {
    return this.take(tx, [{ subject: this.box.mac('slow-downs', 'own', userId), terms: OF_ACCOUNT }]);
  }

  /** The password was right: an account's count begins anew, an address has one attempt less. */
  async succeeded(tx: Tx, { counted }: CountedAttempt): Promise<void> {
    for (const { subject, terms } of counted) {
      await (terms === OF_ADDRESS ? this.store.giveBack(tx, subject) : this.store.forget(tx, subject));
    }
  }

  /** It was never judged. */
  async undone(tx: Tx, { counted }: CountedAttempt): Promise<void> {
    for (const { subject } of counted) await this.store.giveBack(tx, subject);
  }

  private async take(tx: Tx, counted: readonly Counted[]): Promise<CountedAttempt> {
    for (const { subject, terms } of counted) {
      const wait = await this.store.take(tx, subject, terms);
      if (wait === undefined) continue;
      throw new Problem('RATE_LIMITED', `Too many attempts with a wrong password. Try again in ${wait} s.`, {
        headers: { 'Retry-After': String(wait) },
      });
    }
    return { counted };
  }
}
