import { Injectable } from '@nestjs/common';
import { refusalToMakeKey, refusalToManageKeys } from '../../../domain/access/rank.js';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import { newId } from '../../../domain/ids.js';
import { assertRecentSignIn } from '../../../platform/auth/credentials/recent-sign-in.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import type { Page, PageRequest } from '../../../platform/http/fields/pagination.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { invalid } from '../../../platform/http/fields/read-members.js';
import type { Reply } from '../../../platform/http/reply/replies.js';
import type { PersonalKeyEntity } from './personal-key.entity.js';
import { PersonalKeyStore } from './personal-key.store.js';
import { hashPersonalKey, makePersonalKey } from './personal-key.js';
import type { MakePersonalKeyDto } from './personal-keys.dto.js';
import { type NewPersonalKeyReply, presentPersonalKey } from './personal-keys.presenter.js';
import { type PersonalKeyRow, PersonalKeysQuery } from './personal-keys.query.js';
import { actorOf, assertRank } from '../users/rank-check.js';
import { sharedChange } from '../shared-change.js';
import { UserStore } from '../users/user.store.js';
import { UsersQuery } from '../users/users.query.js';

/** Live keys of one person. Who needs more has lost count of them. */
const MAX_LIVE = 50;

/** Personal keys: made for oneself (root: for anybody), listed and revoked by their owner and by administrators. */
@Injectable()
export class PersonalKeysService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly people: UsersQuery,
    private readonly users: UserStore,
    private readonly query: PersonalKeysQuery,
    private readonly keys: PersonalKeyStore,
  ) {}

  async make(userId: string, wanted: MakePersonalKeyDto, caller: Caller): Promise<Reply<NewPersonalKeyReply>> {
    const ref = await this.users.findRef(caller.scope, userId);
    return this.work.run(sharedChange(ref.organizationId), async (tx) => {
      const user = await this.users.readActive(tx, ref);
      assertRank(refusalToMakeKey(actorOf(caller), user));
      assertRecentSignIn(caller, 'a personal key');
      const now = await tx.now();
      const { name, expiresAt } = wanted;
      if (expiresAt !== undefined && expiresAt <= now) throw invalid([{ pointer: '/expiresAt', message: 'must lie ahead' }]);
      if ((await this.keys.countLive(tx, ref)) >= MAX_LIVE) {
        throw new Problem('CONFLICT', `There are ${MAX_LIVE} live keys of this account: revoke one first.`);
      }
      const secret = makePersonalKey();
      const key: PersonalKeyEntity = {
        organizationId: ref.organizationId,
        id: newId('key'),
        userId,
        name,
        keyHash: hashPersonalKey(secret),
        createdBy: caller.actorId,
        createdAt: now,
        expiresAt: expiresAt ?? null,
        revokedAt: null,
        revokedBy: null,
      };
      await this.keys.insert(tx, key);
      tx.record(organizationChain(ref.organizationId), {
        type: 'admin.user_key_created',
        metadata: { keyId: key.id, userId, name, ...(expiresAt === undefined ? {} : { expiresAt: expiresAt.toISOString() }) },
      });
      const shown = presentPersonalKey(key);
      return tx.reply(201, { key: shown, secret }, { key: shown, secret: null });
    });
  }

  async list(userId: string, page: PageRequest, caller: Caller): Promise<Page<PersonalKeyRow>> {
    const user = await this.people.find(caller.scope, userId);
    if (!user) throw new Problem('NOT_FOUND', 'There is no such user.');
    assertRank(refusalToManageKeys(actorOf(caller), user));
    return this.query.list(caller.scope, userId, page);
  }

  async revoke(userId: string, keyId: string, caller: Caller): Promise<Reply<undefined>> {
    const ref = await this.users.findRef(caller.scope, userId);
    return this.work.run(sharedChange(ref.organizationId), async (tx) => {
      const user = await this.users.read(tx, ref);
      assertRank(refusalToManageKeys(actorOf(caller), user));
      await this.keys.revoke(tx, ref, keyId, caller.actorId);
      tx.record(organizationChain(ref.organizationId), { type: 'admin.user_key_revoked', metadata: { keyId, userId } });
      return tx.reply(204, undefined);
    });
  }
}
