import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../../../domain/json.js';
import type { Tx } from '../../../../platform/database/transaction/tx.js';
import { type EffectsAbout, PendingEffects } from '../../../../platform/outbox/pending-effects.store.js';
import { SealedBox } from '../../../../platform/secrets/sealed-box.js';
import type { UserRef } from '../../../organizations/users/user.store.js';

const KIND = 'provider-account.delete';

/** A user of the provider's. */
export interface ProviderUser {
  readonly issuer: string;
  readonly subject: string;
}

/**
 * Orders to delete accounts at the provider. Until that is done the outbox has to know whose: sealed, and of use for the account of this
 * one person alone. With the effect it is gone.
 */
@Injectable()
export class AccountDeletions {
  constructor(
    private readonly box: SealedBox,
    private readonly waiting: PendingEffects,
  ) {}

  order(tx: Tx, { organizationId, id: userId }: UserRef, { issuer, subject }: ProviderUser): void {
    const sealed = this.box.seal('provider-account', userId, Buffer.from(JSON.stringify({ issuer, subject }))).toString('base64');
    tx.enqueue({ kind: KIND, organizationId, payload: { userId, sealed } });
  }

  /** @returns undefined for what was not sealed by this installation, or for somebody else */
  read({ userId, sealed }: JsonObject): ProviderUser | undefined {
    if (typeof userId !== 'string' || typeof sealed !== 'string') return undefined;
    const bytes = this.box.open('provider-account', userId, Buffer.from(sealed, 'base64'));
    return bytes && (JSON.parse(bytes.toString('utf8')) as ProviderUser);
  }

  isWaiting(ref: UserRef): Promise<boolean> {
    return this.waiting.isWaiting(effectsAbout(ref));
  }

  /** @returns whether there is one that still waits */
  tryAgain(tx: Tx, ref: UserRef): Promise<boolean> {
    return this.waiting.tryAgain(tx, effectsAbout(ref));
  }
}

function effectsAbout({ organizationId, id: userId }: UserRef): EffectsAbout {
  return { organizationId, userId, kind: KIND };
}
