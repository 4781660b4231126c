import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../../platform/database/transaction/tx.js';
import { Problem } from '../../../../platform/http/reply/problem.js';
import { addressSubject } from '../../../../platform/rate-limit/subjects.js';
import { SealedBox } from '../../../../platform/secrets/sealed-box.js';
import type { UserRef } from '../../../organizations/users/user.store.js';
import { SlowdownStore, type SlowdownTerms } from './slowdown.store.js';

const DAY_SECONDS = 86_400;

/** Of an account: five attempts, then pauses of 1, 2, 4 … 900 seconds, until nobody has tried for a day. */
const OF_ACCOUNT: SlowdownTerms = { free: 5, countedSeconds: DAY_SECONDS, then: { pauseToSeconds: 900 } };
/** Of a network address, whichever accounts it tries: twenty a minute. */
const OF_ADDRESS: SlowdownTerms = { free: 20, countedSeconds: 60, then: 'window' };

/** The subject of a count: an account or an address. Only its digest is kept. */
interface Counted {
  readonly subject: string;
  readonly terms: SlowdownTerms;
}

/** An attempt that was counted and may be judged. */
export interface CountedAttempt {
  readonly counted: readonly Counted[];
}

/** An account that somebody may be trying to sign in to. */
export interface AttemptTarget extends UserRef {
  /** Whether it has been signed in to from this address of late. */
  readonly isKnown: boolean;
  /** False: it is in another organization than was named, so it is not tried. */
  readonly isMeant: boolean;
}

export interface AttemptOrigin {
  readonly emailFolded: string;
  readonly address: string | undefined;
}

/** A count, and the account that it is of. */
interface CountOf<Account> extends Counted {
  readonly account?: Account;
}

/** An attempt to sign in that was counted. */
export interface SignInAttempt<Account> {
  readonly counted: readonly CountOf<Account>[];
  /** The accounts that it may be tried at. */
  readonly open: readonly Account[];
  /** In this number of seconds it may be tried at further accounts. Until then known callers are not answered that nothing fits. */
  readonly more?: number | undefined;
}

/** Slows guessing down, for all servers together. An attempt that comes too early is refused at once: nobody is kept waiting. */
@Injectable()
export class Slowdowns {
  constructor(
    private readonly store: SlowdownStore,
    private readonly box: SealedBox,
  ) {}

  /**
   * An attempt to sign in, counted at each account by itself: what somebody does at their own says nothing about another one of the same
   * address. Where somebody has signed in of late, what strangers try does not count, nor what others try from the same network
   * address: nobody is locked out by them. Their own attempts from there are counted instead.
   *
   * @param accounts all of the e-mail address that may be tried, and, where an organization is named, those elsewhere too: they are
   *   counted as well, so that from what is slowed down nobody learns which organization has an account
   * @throws Problem RATE_LIMITED with `Retry-After`, where none may be tried
   */
  async takeSignIn<Account extends AttemptTarget>(
    tx: Tx, { emailFolded, address }: AttemptOrigin, accounts: readonly Account[],
  ): Promise<SignInAttempt<Account>> {
    const network = addressSubject(address);
    const isKnownHere = accounts.some(({ isMeant, isKnown }) => isMeant && isKnown);
    const known = accounts.filter(({ isMeant, isKnown }) => isMeant && isKnown).map((account) => this.countAt(account, network));
    const strange: CountOf<Account>[] = accounts
      .filter(({ isMeant, isKnown }) => (isMeant ? !isKnown : !isKnownHere)).map((account) => this.countOf(account));
    if (accounts.length === 0) strange.push({ subject: this.box.mac('slow-downs', 'e-mail', emailFolded), terms: OF_ACCOUNT });
    const ofNetwork = { subject: this.box.mac('slow-downs', 'address', network), terms: OF_ADDRESS };

    const tooMany = strange.length > 0 ? await this.store.take(tx, ofNetwork.subject, OF_ADDRESS) : undefined;
    const counted: CountOf<Account>[] = strange.length > 0 && tooMany === undefined ? [ofNetwork] : [];
    const waits = tooMany === undefined ? [] : [tooMany];
    const isAboutAny = accounts.some(({ isMeant }) => isMeant);
    let isCounted = false;
    // In one order, so that no two attempts wait for each other.
    for (const one of inOrder([...known, ...(tooMany === undefined ? strange : [])])) {
      const isAbout = !isAboutAny || one.account?.isMeant === true;
      const wait = await this.store.take(tx, one.subject, one.terms);
      if (wait === undefined) counted.push(one);
      else if (isAbout) waits.push(wait);
      isCounted ||= isAbout && wait === undefined;
    }
    const soonest = waits.length > 0 ? Math.min(...waits) : undefined;
    if (!isCounted) throw tooEarly(soonest ?? 1);
    const open = accounts.filter((account) => account.isMeant && counted.some((one) => one.account === account));
    return { counted, open, more: open.some(({ isKnown }) => isKnown) ? undefined : soonest };
  }

  /** An attempt to say one's present password within a session. @throws Problem RATE_LIMITED with `Retry-After` */
  async takeOwn(tx: Tx, userId: string): Promise<CountedAttempt> {
    const own = { subject: this.box.mac('slow-downs', 'own', userId), terms: OF_ACCOUNT };
    const wait = await this.store.take(tx, own.subject, own.terms);
    if (wait !== undefined) throw tooEarly(wait);
    return { counted: [own] };
  }

  async ownSucceeded(tx: Tx, { counted }: CountedAttempt): Promise<void> {
    for (const { subject } of counted) await this.store.forget(tx, subject);
  }

  /** The password was right: the counts of the accounts whose it is begin anew, no other's; an address has one attempt less. */
  async succeeded<Account extends AttemptTarget>(tx: Tx, { counted }: SignInAttempt<Account>, fitting: readonly Account[]): Promise<void> {
    for (const { subject, terms, account } of counted) {
      if (terms === OF_ADDRESS) await this.store.giveBack(tx, subject);
      else if (account === undefined) continue;
      else if (fitting.includes(account)) await this.store.forget(tx, subject);
      else if (!account.isMeant) await this.store.uncount(tx, subject);
    }
  }

  /** It was never judged. */
  async undone(tx: Tx, { counted }: CountedAttempt): Promise<void> {
    for (const { subject } of counted) await this.store.giveBack(tx, subject);
  }

  private countOf<Account extends AttemptTarget>(account: Account): CountOf<Account> {
    const { organizationId, id } = account;
    return { account, subject: this.box.mac('slow-downs', 'account', organizationId, id), terms: OF_ACCOUNT };
  }

  private countAt<Account extends AttemptTarget>(account: Account, network: string): CountOf<Account> {
    const { organizationId, id } = account;
    return { account, subject: this.box.mac('slow-downs', 'account at', organizationId, id, network), terms: OF_ACCOUNT };
  }
}

export function tooEarly(wait: number): Problem {
  return new Problem('RATE_LIMITED', `Too many attempts with a wrong password. Try again in ${wait} s.`, {
    headers: { 'Retry-After': String(wait) },
  });
}

const inOrder = <One extends Counted>(counted: readonly One[]): One[] =>
  counted.toSorted((a, b) => (a.subject < b.subject ? -1 : 1));
