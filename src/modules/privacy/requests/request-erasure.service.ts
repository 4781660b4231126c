import { Injectable } from '@nestjs/common';
import { organizationChain, PLATFORM_ORGANIZATION } from '../../../domain/audit/entry/chain.js';
import { recordsNothing } from '../../../platform/auth/access/call-context.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { reply, type Reply } from '../../../platform/http/reply/replies.js';
import { OrganizationsQuery } from '../../organizations/organizations.query.js';
import { ErasureJob } from '../execution/erasure-job.service.js';
import { ErasureRequests } from './erasure-requests.service.js';
import type { AskErasureDto } from '../erasures.dto.js';
import { type ErasureEnvelope, type FoundReply, presentErasure, presentFound } from '../erasures.presenter.js';
import { ErasuresQuery } from './erasures.query.js';
import { PreviewErasure, needsConfirmation } from '../search/preview-erasure.service.js';

const PATIENCE_MS = 1_500;

/** Erasures of what names people who have no account here, by the texts that name them. */
@Injectable()
export class RequestErasureService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly organizations: OrganizationsQuery,
    private readonly foresight: PreviewErasure,
    private readonly asked: ErasureRequests,
    private readonly erasures: ErasuresQuery,
    private readonly job: ErasureJob,
  ) {}

  /** What one person alone may erase begins at once; of what is more, or a decision's, a second one is asked. */
  async ask(wanted: AskErasureDto, caller: Caller): Promise<Reply<ErasureEnvelope | FoundReply>> {
    const { values, reason, dryRun = false } = wanted;
    const organizationId = await this.organizationOf(caller, wanted.organizationId);
    const found = await this.work.run({ chains: [] }, async (tx) => ({
      before: await this.asked.erasedAlone(tx, organizationId, caller), ...(await this.foresight.look(tx, organizationId, values, dryRun)),
    }));
    if (dryRun) {
      recordsNothing();
      return reply(200, presentFound(organizationId, found));
    }
    const mustWait = organizationId !== PLATFORM_ORGANIZATION && needsConfirmation({ ...found, values: found.values + found.before });
    const answer = await this.work.run({ chains: [organizationChain(organizationId)], leavesFacts: true }, async (tx) => {
      const row = await this.asked.insert(tx, { organizationId, values, reason, caller, state: mustWait ? 'unconfirmed' : 'running' });
      return tx.reply(mustWait ? 202 : 200, { ...presentFound(organizationId, found), erasure: presentErasure(row) });
    });
    return mustWait ? answer : this.gone(answer, caller);
  }

  /** @throws Problem FORBIDDEN for who has asked for it, CONFLICT where nothing waits for it */
  async confirm(id: string, caller: Caller): Promise<Reply<ErasureEnvelope>> {
    const key = await this.asked.place(caller, id);
    const answer = await this.work.run({ chains: [organizationChain(key.organizationId)], leavesFacts: true }, async (tx) =>
      tx.reply(200, { erasure: presentErasure(await this.asked.confirm(tx, key, caller)) }));
    return this.gone(answer, caller);
  }

  /** The answer as things are once the search had its moment. */
  private async gone<Body extends ErasureEnvelope>(answer: Reply<Body>, caller: Caller): Promise<Reply<Body>> {
    await this.job.hurry(PATIENCE_MS);
    const [row] = await this.erasures.these(caller.scope, [answer.body.erasure]);
    return row ? reply(answer.status, { ...answer.body, erasure: presentErasure(row) }) : answer;
  }

  /** The platform's own chain is root's. */
  private organizationOf(caller: Caller, named: string | undefined): Promise<string> {
    if (named === PLATFORM_ORGANIZATION && caller.principal.kind === 'root') return Promise.resolve(named);
    return this.organizations.choose(caller.scope, named);
  }
}
