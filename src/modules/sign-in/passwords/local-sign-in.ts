import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { Problem } from '../../../platform/http/reply/problem.js';

/** Passwords and passkeys are for installations without an identity provider. */
@Injectable()
export class LocalSignIn {
  readonly isOffered: boolean;

  constructor(@Inject(CONFIG) config: Pick<CompleteConfig, 'oidcIssuer'>) {
    this.isOffered = config.oidcIssuer === undefined;
  }

  /** @throws Problem NOT_FOUND where people sign in through a provider */
  assertOffered(): void {
    if (!this.isOffered) throw new Problem('NOT_FOUND', 'People sign in through the identity provider here.');
  }
}
