import { Injectable } from '@nestjs/common';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import { newId } from '../../../domain/ids.js';
import type { Caller, UserPrincipal } from '../../../platform/auth/access/principal.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { reply, type Reply } from '../../../platform/http/reply/replies.js';
import { sharedChange } from '../../organizations/shared-change.js';
import { SpentOnceStore } from '../../sign-in/ports/spent-once.store.js';
import { ChatAccountStore } from './chat-account.store.js';
import { type ChatAccountRow, ChatAccountsQuery } from './chat-accounts.query.js';
import type { ChatLink } from './chat-links.js';

/** More than anybody has workspaces. */
const MAX_ACCOUNTS = 20;

/** Chat accounts of people: linked, listed and removed by themselves alone. */
@Injectable()
export class ChatAccountsService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly accounts: ChatAccountStore,
    private readonly query: ChatAccountsQuery,
    private readonly spent: SpentOnceStore,
  ) {}

  list(caller: Caller): Promise<ChatAccountRow[]> {
    return this.query.of(caller.scope, personOf(caller).userId);
  }

  /** @throws Problem CONFLICT for a link that was used, a chat account that is linked already, or too many of them */
  async link({ organizationId, workspace, chatUser, vouchedBy, until, text }: ChatLink, caller: Caller): Promise<void> {
    const { userId } = personOf(caller);
    await this.work.run({ chains: [organizationChain(organizationId)], leavesFacts: true }, async (tx) => {
      if (!(await this.spent.spend(tx, 'chat-link', text, until))) throw new Problem('CONFLICT', 'The link was used. Get another one.');
      if ((await this.accounts.count(tx, organizationId, userId)) >= MAX_ACCOUNTS) {
        throw new Problem('CONFLICT', `There are ${MAX_ACCOUNTS} chat accounts linked to yours: remove one first.`);
      }
      const id = newId('cha');
      if (!(await this.accounts.insert(tx, { organizationId, id, userId, workspace, chatUser, vouchedBy }))) {
        throw new Problem('CONFLICT', 'This chat account is linked already. Whoever it is linked to can remove the link.');
      }
      tx.record(organizationChain(organizationId), { type: 'auth.chat_linked', metadata: { chatAccountId: id, chat: 'slack' } });
    });
  }

  /** Passes the organization's barrier: no decision by this chat account commits behind the answer. @throws Problem NOT_FOUND */
  async remove(id: string, caller: Caller): Promise<Reply<undefined>> {
    const { organizationId, userId } = personOf(caller);
    await this.work.run(sharedChange(organizationId), async (tx) => {
      if (!(await this.accounts.remove(tx, organizationId, userId, id))) throw new Problem('NOT_FOUND', 'There is no such chat account.');
      tx.record(organizationChain(organizationId), { type: 'auth.chat_unlinked', metadata: { chatAccountId: id, userId } });
    });
    return reply(204, undefined);
  }
}

/** @throws Problem FORBIDDEN for whoever is no person */
function personOf({ principal }: Caller): UserPrincipal {
  if (principal.kind !== 'user') throw new Problem('FORBIDDEN', 'Only people have chat accounts.');
  return principal;
}
