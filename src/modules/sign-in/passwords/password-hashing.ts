import { Injectable } from '@nestjs/common';
import { type PasswordOwner, type PasswordRefusal, passwordRefusal } from '../../../domain/access/password-rules.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { invalid } from '../../../platform/http/fields/read-members.js';
import { PrioritySemaphore, SemaphoreFull, type CallerPriority } from './throttling/priority-semaphore.js';
import { frequentPasswords } from './frequent-passwords.js';
import { fits, hashOf } from './password-hash.js';

/** Two of the four threads that the process has for such work: the others are everybody else's. */
const BOUNDS = { atOnce: 2, waiting: 16 };
const COME_AGAIN_SECONDS = 5;

const WORDS: Readonly<Record<PasswordRefusal, string>> = {
  too_short: 'must have at least 12 characters',
  too_long: 'must have at most 256 characters',
  not_text: 'must be text that can be typed',
  too_uniform: 'must not repeat the same few characters',
  about_oneself: 'must not contain your name, your e-mail address or the name of this service',
  common: 'must not be a password that many people choose',
};

/** Passwords are made dear on purpose, so all that is done with them goes through here. */
@Injectable()
export class PasswordHashing {
  private readonly semaphore = new PrioritySemaphore(BOUNDS);

  /**
   * Asked before anything is written for a caller who could not be served.
   * @throws Problem UNAVAILABLE
   */
  assertRoom(priority: CallerPriority): void {
    if (!this.semaphore.hasRoom(priority)) throw busy();
  }

  /** @param hash null: the same work for nothing. @throws Problem UNAVAILABLE where too many wait */
  fits(password: string, hash: string | null, priority: CallerPriority): Promise<boolean> {
    return this.through(priority, () => fits(password, hash));
  }

  /**
   * The hash of a new password, once it is found good enough for its owner.
   *
   * @param pointer the member of the request that holds it
   * @throws Problem VALIDATION_FAILED; UNAVAILABLE where too many wait
   */
  async accept(password: string, owner: PasswordOwner, pointer: string): Promise<string> {
    const refusal = passwordRefusal(password, owner, await frequentPasswords());
    if (refusal !== undefined) throw invalid([{ pointer, message: WORDS[refusal] }]);
    return this.hash(password);
  }

  /** @throws Problem UNAVAILABLE where too many wait */
  hash(password: string): Promise<string> {
    return this.through('known', () => hashOf(password));
  }

  private async through<Result>(priority: CallerPriority, work: () => Promise<Result>): Promise<Result> {
    try {
      return await this.semaphore.run(priority, work);
    } catch (error) {
      throw error instanceof SemaphoreFull ? busy() : error;
    }
  }
}

/** The refusal at once of a caller who comes while too many wait. */
export function busy(): Problem {
  return new Problem('UNAVAILABLE', 'Too many people sign in by password at this moment. Try again in a few seconds.', {
    headers: { 'Retry-After': String(COME_AGAIN_SECONDS) },
  });
}
