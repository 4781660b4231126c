import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import type { UserRef } from './user.store.js';

export interface AccountEnding {
  /** `role_lost`: the account goes on, with less than it had. */
  readonly reason: 'closed' | 'role_lost' | 'erased';
  /** The caller's actor id. */
  readonly by: string;
}

/**
 * What an account had elsewhere, at the identity provider: nothing that is known; something whose end follows the commit; something
 * whose end is for somebody there.
 */
export type EndElsewhere = 'none' | 'follows' | 'by_hand';

/** What ended along with an account. */
export interface EndedWithAccount {
  readonly sessions: number;
  readonly elsewhere: EndElsewhere;
}

/** What ends with an account, or with the loss of a role: in the same unit of work, under the organization's head. */
export interface AccountEnd {
  /** Of an account that was erased before it is asked again, for what still follows. */
  ended(tx: Tx, ref: UserRef, ending: AccountEnding): Promise<Partial<EndedWithAccount>>;
  /** Whether what had to follow the commit elsewhere has happened. */
  hasFollowed?(ref: UserRef): Promise<boolean>;
}

const LOOK_EVERY_MS = 50;

/** Modules register at start what of theirs ends with an account. */
@Injectable()
export class AccountEnds {
  private readonly ends: AccountEnd[] = [];

  register(end: AccountEnd): void {
    this.ends.push(end);
  }

  async ended(tx: Tx, ref: UserRef, ending: AccountEnding): Promise<EndedWithAccount> {
    let all: EndedWithAccount = { sessions: 0, elsewhere: 'none' };
    for (const end of this.ends) {
      const { sessions = 0, elsewhere = 'none' } = await end.ended(tx, ref, ending);
      all = { sessions: all.sessions + sessions, elsewhere: elsewhere === 'none' ? all.elsewhere : elsewhere };
    }
    return all;
  }

  /** Waits for what follows elsewhere, for as long as a caller likes to. @returns whether all of it has happened */
  async followed(ref: UserRef, milliseconds: number): Promise<boolean> {
    const until = performance.now() + milliseconds;
    for (;;) {
      const have = await Promise.all(this.ends.flatMap((end) => end.hasFollowed?.(ref) ?? []));
      if (have.every((one) => one)) return true;
      if (performance.now() + LOOK_EVERY_MS > until) return false;
      await pause(LOOK_EVERY_MS);
    }
  }
}
