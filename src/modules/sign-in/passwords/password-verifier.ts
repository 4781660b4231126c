import { Injectable } from '@nestjs/common';
import { AuthJournal } from '../../../platform/auth/failures/auth-journal.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { foldedEmail } from '../../organizations/users/make-account.js';
import { PrioritySemaphore, SemaphoreFull } from './throttling/priority-semaphore.js';
import { isOutdated } from './password-hash.js';
import { busy, PasswordHashing } from './password-hashing.js';
import { type Candidate, PasswordStore } from './password.store.js';
import { type SignInAttempt, Slowdowns, tooEarly } from './throttling/slowdowns.js';

/** What the form says. */
export interface PasswordAttempt {
  readonly email: string;
  readonly password: string;
  /** Which of several accounts of the same address: the id or the name of its organization. */
  readonly organization?: string | undefined;
}

/** An attempt that was counted, before any work is done for it. */
interface Counted {
  readonly attempt: SignInAttempt<Candidate>;
  readonly isKnown: boolean;
}

export interface PasswordMatch {
  readonly attempt: SignInAttempt<Candidate>;
  /** The accounts whose password it is. */
  readonly fitting: readonly Candidate[];
}

/** Counting takes a connection of the database for a moment: strangers must not take all of them from the gate. */
const COUNTED = { atOnce: 2, waiting: 256 };

/** Judges attempts to sign in by password: each is counted first, and refused at once where it comes too early. */
@Injectable()
export class PasswordVerifier {
  private readonly counting = new PrioritySemaphore(COUNTED);

  constructor(
    private readonly work: UnitOfWork,
    private readonly passwords: PasswordStore,
    private readonly slowdowns: Slowdowns,
    private readonly hashing: PasswordHashing,
    private readonly journal: AuthJournal,
  ) {}

  /** @throws Problem RATE_LIMITED after too many guesses; UNAVAILABLE while too many people sign in */
  async judge(wanted: PasswordAttempt, address: string | undefined): Promise<PasswordMatch> {
    this.hashing.assertRoom('known');
    const counted = await this.count(wanted, address);
    const { attempt } = counted;
    const fitting = await this.fitting(counted, wanted.password).catch(async (error: unknown) => {
      await this.countingWork((tx) => this.slowdowns.undone(tx, attempt));
      throw error;
    });
    if (fitting.length === 0 && attempt.more !== undefined) {
      await this.refused(address);
      throw tooEarly(attempt.more);
    }
    return { attempt, fitting };
  }

  /** The password was right. */
  succeeded(tx: Tx, { attempt, fitting }: PasswordMatch): Promise<void> {
    return this.slowdowns.succeeded(tx, attempt, fitting);
  }

  /** Records a failed attempt. Its caller learns only that nothing fits, whatever was wrong. */
  wrong(address: string | undefined): Promise<void> {
    return this.journal.failedFrom(address, 'wrong password', 'POST');
  }

  /** Its hash at the present cost, where it is kept at another one. */
  async renewed({ hash }: Candidate, password: string): Promise<string | undefined> {
    return isOutdated(hash) ? this.hashing.hash(password) : undefined;
  }

  private async count({ email, organization }: PasswordAttempt, address: string | undefined): Promise<Counted> {
    const emailFolded = foldedEmail(email.trim());
    try {
      return await this.countingWork(async (tx) => {
        const candidates = await this.passwords.candidates(tx, emailFolded, { organization, address });
        const isKnown = candidates.some((one) => one.isMeant && one.isKnown);
        if (!isKnown) this.hashing.assertRoom('stranger');
        return { isKnown, attempt: await this.slowdowns.takeSignIn(tx, { emailFolded, address }, candidates) };
      });
    } catch (error) {
      if (error instanceof Problem && error.code === 'RATE_LIMITED') await this.refused(address);
      throw error;
    }
  }

  private refused(address: string | undefined): Promise<void> {
    return this.journal.failedFrom(address, 'too many guesses', 'POST');
  }

  private async countingWork<Result>(act: (tx: Tx) => Promise<Result>): Promise<Result> {
    try {
      return await this.counting.run('stranger', () => this.work.run({ chains: [], leavesFacts: true }, act));
    } catch (error) {
      throw error instanceof SemaphoreFull ? busy() : error;
    }
  }

  private async fitting({ attempt: { open }, isKnown }: Counted, password: string): Promise<Candidate[]> {
    const priority = isKnown ? 'known' : 'stranger';
    const fitting: Candidate[] = [];
    // An address that nobody has takes as long as one that somebody has.
    if (open.length === 0) await this.hashing.fits(password, null, priority);
    for (const candidate of open) {
      if (await this.hashing.fits(password, candidate.hash, priority)) fitting.push(candidate);
    }
    return fitting;
  }
}
