import { Injectable } from '@nestjs/common';
import { AuthJournal } from '../../../platform/auth/auth-journal.js';
import type { Tx } from '../../../platform/database/tx.js';
import { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import { Problem } from '../../../platform/http/problem.js';
import { addressSubject } from '../../../platform/rate-limit/subjects.js';
import { foldedEmail } from '../../organizations/make-account.js';
import { Lane, LaneFull } from './lane.js';
import { isOutdated } from './password-hash.js';
import { busy, PasswordWork } from './password-work.js';
import { type Candidate, PasswordStore } from './password.store.js';
import { type CountedAttempt, Slowdowns } from './slowdowns.js';

/** What the form says. */
export interface PasswordAttempt {
  readonly email: string;
  readonly password: string;
  /** Which of several accounts of the same address. */
  readonly organizationId?: string | undefined;
}

/** An attempt that was counted, before any work is done for it. */
interface Counted {
  readonly attempt: CountedAttempt;
  readonly candidates: readonly Candidate[];
  readonly isKnown: boolean;
}

export interface Judgement {
  readonly attempt: CountedAttempt;
  /** The accounts whose password it is. */
  readonly fitting: readonly Candidate[];
}

/** Counting takes a connection of the database for a moment: strangers must not take all of them from the gate. */
const COUNTED = { atOnce: 2, waiting: 256 };

/** Judges attempts to sign in by password: each is counted first, and refused at once where it comes too early. */
@Injectable()
export class PasswordJudge {
  private readonly counting = new Lane(COUNTED);

  constructor(
    private readonly work: UnitOfWork,
    private readonly passwords: PasswordStore,
    private readonly slowdowns: Slowdowns,
    private readonly dear: PasswordWork,
    private readonly journal: AuthJournal,
  ) {}

  /** @throws Problem RATE_LIMITED for whoever has guessed too often; UNAVAILABLE while too many sign in */
  async judge(wanted: PasswordAttempt, address: string | undefined): Promise<Judgement> {
    this.dear.assertRoom('known');
    const counted = await this.count(wanted, address);
    try {
      return { attempt: counted.attempt, fitting: await this.fitting(counted, wanted.password) };
    } catch (error) {
      await this.atTheDesk((tx) => this.slowdowns.undone(tx, counted.attempt));
      throw error;
    }
  }

  /** The password was right. */
  succeeded(tx: Tx, { attempt }: Judgement): Promise<void> {
    return this.slowdowns.succeeded(tx, attempt);
  }

  /** Whoever tried is told no more than that nothing fits, whatever it was. */
  wrong(address: string | undefined): Promise<void> {
    return this.journal.failedFrom(address, 'wrong password', 'POST');
  }

  /** Its hash at the present cost, where it is kept at another one. */
  async renewed({ hash }: Candidate, password: string): Promise<string | undefined> {
    return isOutdated(hash) ? this.dear.hash(password) : undefined;
  }

  private async count({ email, organizationId }: PasswordAttempt, address: string | undefined): Promise<Counted> {
    const folded = foldedEmail(email.trim());
    try {
      return await this.atTheDesk(async (tx) => {
        const candidates = await this.passwords.candidates(tx, folded, organizationId);
        const here = addressSubject(address);
        const isKnown = candidates.some(({ addresses }) => addresses.some((one) => addressSubject(one) === here));
        if (!isKnown) this.dear.assertRoom('stranger');
        return { candidates, isKnown, attempt: await this.slowdowns.takeSignIn(tx, folded, address, isKnown) };
      });
    } catch (error) {
      if (error instanceof Problem && error.code === 'RATE_LIMITED') await this.journal.failedFrom(address, 'too many guesses', 'POST');
      throw error;
    }
  }

  private async atTheDesk<Result>(story: (tx: Tx) => Promise<Result>): Promise<Result> {
    try {
      return await this.counting.run('stranger', () => this.work.run({ chains: [], leavesFacts: true }, story));
    } catch (error) {
      throw error instanceof LaneFull ? busy() : error;
    }
  }

  private async fitting({ candidates, isKnown }: Counted, password: string): Promise<Candidate[]> {
    const standing = isKnown ? 'known' : 'stranger';
    const fitting: Candidate[] = [];
    // An address that nobody has takes as long as one that somebody has.
    if (candidates.length === 0) await this.dear.fits(password, null, standing);
    for (const candidate of candidates) {
      if (await this.dear.fits(password, candidate.hash, standing)) fitting.push(candidate);
    }
    return fitting;
  }
}
