import { Injectable } from '@nestjs/common';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { UserRef } from '../../organizations/users/user.store.js';
import { PasswordHashing } from './password-hashing.js';
import { PasswordStore } from './password.store.js';
import { Slowdowns } from './throttling/slowdowns.js';

/** What somebody who is in already does with their own password. */
@Injectable()
export class OwnPassword {
  constructor(
    private readonly work: UnitOfWork,
    private readonly passwords: PasswordStore,
    private readonly slowdowns: Slowdowns,
    private readonly dear: PasswordHashing,
  ) {}

  /**
   * Whoever holds a session guesses at its password no faster than a stranger.
   *
   * @returns the hash that it fits
   * @throws Problem FORBIDDEN for another one; RATE_LIMITED, UNAVAILABLE
   */
  async prove(ref: UserRef, current: string): Promise<string> {
    const { hash, attempt } = await this.work.run({ chains: [], leavesFacts: true }, async (tx) => {
      const kept = await this.passwords.read(tx, ref);
      return { hash: kept ?? null, attempt: await this.slowdowns.takeOwn(tx, ref.id) };
    });
    const isRight = await this.dear.fits(current, hash, 'known');
    if (!isRight || hash === null) throw notRight();
    await this.work.run({ chains: [], leavesFacts: true }, (tx) => this.slowdowns.ownSucceeded(tx, attempt));
    return hash;
  }
}

export function notRight(): Problem {
  return new Problem('FORBIDDEN', 'The present password is not right.');
}
