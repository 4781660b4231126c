import { Injectable } from '@nestjs/common';
import type { StoredCheckpoint } from '../../domain/audit/notes/checkpoint.js';

/** Somebody who is asked before this process signs: what stands outside of the database must agree with what stands in it. */
export interface SigningCheck {
  readonly name: string;
  /**
   * Asked before the first signature after this replica came to lead.
   *
   * @param newest signed checkpoint of the platform's tree; undefined while there is none
   * @throws Error when nothing must be signed; asked again a little later
   */
  agree(newest: StoredCheckpoint | undefined): Promise<void>;
}

/** Modules register who is asked; the leader asks all of them, and knows none of the modules. */
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
