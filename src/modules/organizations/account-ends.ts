import { Injectable } from '@nestjs/common';
import type { Tx } from '../../platform/database/tx.js';
import type { UserPlace } from './user.store.js';

export interface AccountEnding {
  /** `role_lost`: the account goes on, with less than it had. */
  readonly reason: 'closed' | 'role_lost' | 'erased';
  /** The caller's actor id. */
  readonly by: string;
}

/** What ended along with an account. */
export interface EndedWithAccount {
  readonly sessions: number;
  /** Whether an account at the identity provider belonged to it. */
  readonly identity: boolean;
}

/** What ends with an account, or with the loss of a role: in the same unit of work, under the organization's head. */
export interface AccountEnd {
  ended(tx: Tx, place: UserPlace, ending: AccountEnding): Promise<EndedWithAccount>;
}

/** Modules register at start what of theirs ends with an account. */
@Injectable()
export class AccountEnds {
  private readonly ends: AccountEnd[] = [];

  register(end: AccountEnd): void {
    this.ends.push(end);
  }

  async ended(tx: Tx, place: UserPlace, ending: AccountEnding): Promise<EndedWithAccount> {
    let all: EndedWithAccount = { sessions: 0, identity: false };
    for (const end of this.ends) {
      const { sessions, identity } = await end.ended(tx, place, ending);
      all = { sessions: all.sessions + sessions, identity: all.identity || identity };
    }
    return all;
  }
}
