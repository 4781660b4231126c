import { Injectable } from '@nestjs/common';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import { newId } from '../../../domain/ids.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { invalid } from '../../../platform/http/fields/read-members.js';
import type { UserRef } from '../../organizations/users/user.store.js';
import { deviceOf } from '../ports/device-name.js';
import { type MadePasskey, PasskeyProofs } from './webauthn/passkey-proofs.js';
import { type NewPasskey, PasskeyStore } from './passkey.store.js';
import { PASSKEYS_MAX } from './passkeys.query.js';

/** One answer for what does not hold, holds no more, or was made for somebody else. */
export const noPasskey = (): Problem =>
  invalid([{ pointer: '/response', message: 'must answer what this browser was asked a few minutes ago, once' }]);

/** A new passkey comes to its account. */
@Injectable()
export class KeepPasskey {
  constructor(
    private readonly proofs: PasskeyProofs,
    private readonly passkeys: PasskeyStore,
  ) {}

  /**
   * For a work that holds the organization's head and has read the account under it.
   *
   * @param agent the header `User-Agent`: what it is called, where its owner does not say
   * @throws Problem VALIDATION_FAILED for an answer that came before; CONFLICT for one too many
   */
  async keep(tx: Tx, { organizationId, id }: UserRef, made: MadePasskey, agent: string | undefined, name?: string): Promise<NewPasskey> {
    const ref = { organizationId, id };
    const there = await this.passkeys.credentialsOf(tx, ref);
    if (!(await this.proofs.spend(tx, made)) || there.includes(made.key.credentialId)) throw noPasskey();
    if (there.length >= PASSKEYS_MAX) throw new Problem('CONFLICT', `An account has ${PASSKEYS_MAX} passkeys at most: remove one first.`);
    const passkey = { ...made.key, id: newId('pky'), name: name ?? deviceOf(agent), createdAt: await tx.now() };
    await this.passkeys.insert(tx, ref, passkey);
    tx.record(organizationChain(organizationId), {
      type: 'auth.credential_changed', metadata: { userId: id, method: 'passkey', change: 'added', credentialId: passkey.id },
    }, { actorId: id });
    return passkey;
  }
}
