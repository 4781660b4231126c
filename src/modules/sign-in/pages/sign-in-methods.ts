import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { RelyingParty } from '../passkeys/webauthn/relying-party.js';

/** By which ways people come in here. */
@Injectable()
export class SignInMethods {
  /** The host of the identity provider, where there is one: then there is no other way. */
  readonly provider: string | undefined;
  readonly hasPasskeys: boolean;

  constructor(party: RelyingParty, @Inject(CONFIG) { oidcIssuer }: Pick<CompleteConfig, 'oidcIssuer'>) {
    this.provider = oidcIssuer === undefined ? undefined : new URL(oidcIssuer).host;
    this.hasPasskeys = party.isOffered;
  }
}
