import { Injectable } from '@nestjs/common';
import type { StoredCheckpoint } from '../../domain/audit/notes/checkpoint.js';

/** A check before this process signs: what is kept outside of the database must agree with the database. */
export interface SigningCheck {
  readonly name: string;
  /**
   * Runs before the first signature after this server has become the leader.
   *
   * @param newest signed checkpoint of the platform's tree; undefined while there is none
   * @throws Error when nothing may be signed; the check runs again a little later
   */
  agree(newest: StoredCheckpoint | undefined): Promise<void>;
}

/** Modules register their checks: the leader runs them all and knows none of the modules. */
@Injectable()
export class BeforeSigning {
  private readonly checks: SigningCheck[] = [];

  register(check: SigningCheck): void {
    this.checks.push(check);
  }

  async agree(newest: StoredCheckpoint | undefined): Promise<void> {
    for (const check of this.checks) await check.agree(newest);
  }
}
