import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { organizationChain } from '../../../domain/audit/chain.js';
import { newId } from '../../../domain/ids.js';
import { recordsNothing } from '../../../platform/auth/call-context.js';
import type { Caller, UserPrincipal } from '../../../platform/auth/principal.js';
import { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import { Problem } from '../../../platform/http/problem.js';
import { invalid } from '../../../platform/http/read-members.js';
import type { Reply } from '../../../platform/http/replies.js';
import { UserStore } from '../../organizations/user.store.js';
import { OwnPassword } from '../passwords/own-password.js';
import { isFresh } from '../seams/fresh.js';
import { deviceOf } from './device.js';
import { PasskeyProofs } from './passkey-proofs.js';
import { PasskeyStore } from './passkey.store.js';
import type { AddPasskeyDto, PasskeyOptionsDto } from './passkeys.dto.js';
import { type PasskeyEnvelope, type PasskeyListReply, presentPasskey } from './passkeys.presenter.js';
import { PASSKEYS_MAX, PasskeysQuery } from './passkeys.query.js';

/** Somebody's own passkeys. */
@Injectable()
export class OwnPasskeys {
  constructor(
    private readonly work: UnitOfWork,
    private readonly proofs: PasskeyProofs,
    private readonly query: PasskeysQuery,
    private readonly passkeys: PasskeyStore,
    private readonly users: UserStore,
    private readonly password: OwnPassword,
  ) {}

  async list(caller: Caller): Promise<PasskeyListReply> {
    const passkeys = (await this.query.list(caller.scope, personOf(caller).userId)).map(presentPasskey);
    return { passkeys, total: passkeys.length };
  }

  /** That it is really the owner is asked here: what comes back answers a challenge that nobody else was given. */
  async options(request: Request, response: Response, caller: Caller, { current }: PasskeyOptionsDto) {
    recordsNothing();
    const place = placeOf(caller);
    this.proofs.assertOffered();
    if (current !== undefined) await this.password.prove(place, current);
    else if (!isFresh(personOf(caller).credential)) {
      throw new Problem('FORBIDDEN', 'Send the present password as `current`, or sign in again first.');
    }
    const user = await this.work.run({ chains: [organizationChain(place.organizationId)], leavesFacts: true }, async (tx) => ({
      ...(await this.users.readActive(tx, place)), there: await this.passkeys.credentialsOf(tx, place),
    }));
    return this.proofs.askToMake(request, response, 'add', { userId: user.id, email: user.email, name: user.name }, user.there);
  }

  async add(request: Request, caller: Caller, { response, name }: AddPasskeyDto): Promise<Reply<PasskeyEnvelope>> {
    const place = placeOf(caller);
    const made = await this.proofs.made(request, 'add', response);
    if (made === undefined || made.userId !== place.id) throw noPasskey();
    return this.work.run({ chains: [organizationChain(place.organizationId)], leavesFacts: true }, async (tx) => {
      await this.users.readActive(tx, place);
      const there = await this.passkeys.credentialsOf(tx, place);
      if (!(await this.proofs.spend(tx, made)) || there.includes(made.key.credentialId)) throw noPasskey();
      if (there.length >= PASSKEYS_MAX) throw new Problem('CONFLICT', `An account has ${PASSKEYS_MAX} passkeys at most: remove one first.`);
      const passkey = {
        ...made.key, id: newId('pky'), name: name ?? deviceOf(request.headers['user-agent']), createdAt: await tx.now(), lastUsedAt: null,
      };
      await this.passkeys.insert(tx, place, passkey);
      tx.record(organizationChain(place.organizationId), {
        type: 'auth.credential_changed',
        metadata: { userId: place.id, method: 'passkey', change: 'added', credentialId: passkey.id },
      });
      return tx.reply(201, { passkey: presentPasskey(passkey) });
    });
  }

  /** Also from a session that is no longer fresh: it takes away, and a lost device should not have to wait. */
  async remove(passkeyId: string, caller: Caller): Promise<Reply<undefined>> {
    const place = placeOf(caller);
    return this.work.run({ chains: [organizationChain(place.organizationId)], leavesFacts: true }, async (tx) => {
      await this.passkeys.remove(tx, place, passkeyId);
      if ((await this.passkeys.waysIn(tx, place)) === 0) {
        throw new Problem('CONFLICT', 'It is the last way to sign in to this account: add another first.');
      }
      tx.record(organizationChain(place.organizationId), {
        type: 'auth.credential_changed',
        metadata: { userId: place.id, method: 'passkey', change: 'removed', credentialId: passkeyId },
      });
      return tx.reply(204, undefined);
    });
  }
}

const noPasskey = () => invalid([{ pointer: '/response', message: 'must answer what this browser was asked a few minutes ago, once' }]);

function personOf({ principal }: Caller): UserPrincipal {
  if (principal.kind !== 'user') throw new Problem('FORBIDDEN', 'Only people have passkeys.');
  return principal;
}

function placeOf(caller: Caller) {
  const { organizationId, userId } = personOf(caller);
  return { organizationId, id: userId };
}
