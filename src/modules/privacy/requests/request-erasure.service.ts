import { Injectable } from '@nestjs/common';
import { organizationChain, PLATFORM_ORGANIZATION } from '../../../domain/audit/entry/chain.js';
import { recordsNothing } from '../../../platform/auth/access/call-context.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { reply, type Reply } from '../../../platform/http/reply/replies.js';
import { OrganizationsQuery } from '../../organizations/organizations.query.js';
import { ErasureJob } from '../execution/erasure-job.service.js';
import type { Erasure } from '../execution/erasure.js';
import { ErasureProgress } from '../execution/erasure-progress.service.js';
import type { AskErasureDto } from '../erasures.dto.js';
import { type ErasureEnvelope, type FoundReply, presentErasure, presentFound } from '../erasures.presenter.js';
import { ErasuresQuery } from './erasures.query.js';
import { ErasureSearch, needsConfirmation } from '../search/erasure-search.service.js';

const PATIENCE_MS = 1_500;

/** Erasures for people without an account here, by the texts that name them. */
@Injectable()
export class RequestErasureService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly organizations: OrganizationsQuery,
    private readonly search: ErasureSearch,
    private readonly progress: ErasureProgress,
    private readonly erasures: ErasuresQuery,
    private readonly job: ErasureJob,
  ) {}

  /** An erasure that one person alone may order begins at once; for larger ones, and for values of decisions, a second person is asked. */
  async ask(wanted: AskErasureDto, caller: Caller): Promise<Reply<ErasureEnvelope | FoundReply>> {
    const { values, reason, dryRun = false } = wanted;
    const organizationId = await this.organizationOf(caller, wanted.organizationId);
    const found = await this.work.run({ chains: [] }, async (tx) => ({
      // What the caller has had erased here within a day without a confirmation.
      before: await this.progress.store.erasedAlone(tx, { organizationId, id: '', askedBy: caller.actorId }),
      ...(await this.search.preview(tx, organizationId, values, dryRun)),
    }));
    if (dryRun) {
      recordsNothing();
      return reply(200, presentFound(organizationId, found));
    }
    const mustWait = organizationId !== PLATFORM_ORGANIZATION && needsConfirmation({ ...found, values: found.values + found.before });
    const answer = await this.work.run({ chains: [organizationChain(organizationId)], leavesFacts: true }, async (tx) => {
      const row = await this.progress.begin(tx, {
        organizationId, kind: 'values', userId: null, texts: values, reason, caller, state: mustWait ? 'unconfirmed' : 'running',
        cursor: { phase: 'log', round: 1 },
      });
      return tx.reply(mustWait ? 202 : 200, { ...presentFound(organizationId, found), erasure: presentErasure(row) });
    });
    return mustWait ? answer : this.afterSearch(answer, caller);
  }

  /**
   * @throws Problem NOT_FOUND, also for an erasure of another organization; FORBIDDEN for who has asked for the erasure; CONFLICT
   *   where no confirmation is awaited
   */
  async confirm(id: string, caller: Caller): Promise<Reply<ErasureEnvelope>> {
    const key = await this.progress.store.findKey(caller.scope, id);
    const chain = organizationChain(key.organizationId);
    const answer = await this.work.run({ chains: [chain], leavesFacts: true }, async (tx) => {
      const erasure = (await this.progress.store.find(tx, key, true)) as Erasure;
      const { state, askedBy } = erasure;
      if (state !== 'unconfirmed') throw new Problem('CONFLICT', 'The erasure waits for nobody to confirm it.');
      if (askedBy === caller.actorId) throw new Problem('FORBIDDEN', 'Somebody else confirms it than has asked for it.');
      await this.progress.store.setState(tx, key, 'running', caller.actorId);
      tx.record(chain, { type: 'gdpr.erasure_confirmed', metadata: { erasureId: id, askedBy } });
      return tx.reply(200, { erasure: presentErasure({ ...erasure, state: 'running', confirmedBy: caller.actorId }) });
    });
    return this.afterSearch(answer, caller);
  }

  /** The answer with the progress that the search has made meanwhile. */
  private async afterSearch<Body extends ErasureEnvelope>(answer: Reply<Body>, caller: Caller): Promise<Reply<Body>> {
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
