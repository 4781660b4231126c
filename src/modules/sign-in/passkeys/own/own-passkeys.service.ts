import { Injectable } from '@nestjs/common';
import { organizationChain } from '../../../../domain/audit/entry/chain.js';
import type { Caller } from '../../../../platform/auth/access/principal.js';
import { UnitOfWork } from '../../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../../platform/http/reply/problem.js';
import type { Reply } from '../../../../platform/http/reply/replies.js';
import { personOf, userRefOf } from '../own-account.js';
import { PasskeyStore } from '../passkey.store.js';
import { type PasskeyListReply, presentPasskey } from '../passkeys.presenter.js';
import { PasskeysQuery } from '../passkeys.query.js';

/** Somebody's own passkeys. */
@Injectable()
export class OwnPasskeys {
  constructor(
    private readonly work: UnitOfWork,
    private readonly query: PasskeysQuery,
    private readonly passkeys: PasskeyStore,
  ) {}

  async list(caller: Caller): Promise<PasskeyListReply> {
    const passkeys = (await this.query.list(caller.scope, personOf(caller).userId)).map(presentPasskey);
    return { passkeys, total: passkeys.length };
  }

  /** Also from a session that is no longer fresh: it takes away, and a lost device should not have to wait. */
  async remove(passkeyId: string, caller: Caller): Promise<Reply<undefined>> {
    const ref = userRefOf(caller);
    return this.work.run({ chains: [organizationChain(ref.organizationId)], leavesFacts: true }, async (tx) => {
      await this.passkeys.remove(tx, ref, passkeyId);
      if ((await this.passkeys.waysIn(tx, ref)) === 0) {
        throw new Problem('CONFLICT', 'It is the last way to sign in to this account: add another first.');
      }
      tx.record(organizationChain(ref.organizationId), {
        type: 'auth.credential_changed',
        metadata: { userId: ref.id, method: 'passkey', change: 'removed', credentialId: passkeyId },
      });
      return tx.reply(204, undefined);
    });
  }
}
