import { Injectable } from '@nestjs/common';
import { recordsNothing } from '../../platform/auth/call-context.js';
import type { Caller } from '../../platform/auth/principal.js';
import { Replayed } from '../../platform/database/idempotency.js';
import { Problem } from '../../platform/http/problem.js';
import type { PageRequest } from '../../platform/http/pagination.js';
import { reply } from '../../platform/http/replies.js';
import { Waiters } from '../../platform/wake/waiters.js';
import { notExecutable, type RefusedApproval } from './approve-request.service.js';
import { DecideRequestService } from './decide-request.service.js';
import { EscalateRequestService, type Escalation } from './escalate-request.service.js';
import type { FormQuery, RequestListQuery, RequestWaitQuery } from './hitl.dto.js';
import { presentRequest, presentRequestSnake } from './hitl.presenter.js';
import { HitlRequestsQuery, type RequestRow } from './hitl-requests.query.js';
import type { Decision } from './judge-decision.service.js';

/** How long an approval's answer waits for its action when the caller does not say. */
const APPROVAL_WAIT_SECONDS = 2;

const present = (row: RequestRow, form: FormQuery['form'], usual: 'snake' | 'camel') =>
  (form ?? usual) === 'snake' ? presentRequestSnake(row) : presentRequest(row);

/** What a reviewer sees: lists, one request, and the request again after each decision. */
@Injectable()
export class HitlDesk {
  constructor(
    private readonly requests: HitlRequestsQuery,
    private readonly deciding: DecideRequestService,
    private readonly escalating: EscalateRequestService,
    private readonly waiters: Waiters,
  ) {}

  async list(query: RequestListQuery, page: PageRequest, caller: Caller) {
    const { rows, total, nextCursor } = await this.requests.list(caller.scope, query, page);
    return { requests: rows.map((row) => present(row, query.form, 'camel')), total, ...(nextCursor ? { nextCursor } : {}) };
  }

  async show(id: string, { wait = 0, form }: RequestWaitQuery, caller: Caller) {
    return present(await this.awaited(id, wait, caller), form, 'snake');
  }

  approve(id: string, decision: Decision, { wait, form }: RequestWaitQuery, caller: Caller) {
    return this.decided(id, () => this.deciding.approve(id, decision, caller), wait ?? APPROVAL_WAIT_SECONDS, form, caller, wait ?? 0);
  }

  reject(id: string, decision: Decision, { form }: FormQuery, caller: Caller) {
    return this.decided(id, () => this.deciding.reject(id, decision, caller), 0, form, caller);
  }

  cancel(id: string, decision: Decision, { form }: FormQuery, caller: Caller) {
    return this.decided(id, () => this.deciding.cancel(id, decision, caller), 0, form, caller);
  }

  async escalate(id: string, escalation: Escalation, { form }: FormQuery, caller: Caller) {
    const headers = await headersOf(() => this.escalating.escalate(id, escalation, caller));
    return reply(200, present(await this.find(id, caller), form, 'snake'), headers);
  }

  async envelope(id: string, { form }: FormQuery, caller: Caller) {
    return { request: present(await this.find(id, caller), form, 'camel') };
  }

  /**
   * A repeated decision under the same key shows the request as it stands, like the first.
   *
   * @param waitForOthers instead of `wait`, where it decided nothing yet
   */
  private async decided(
    id: string,
    act: () => Promise<{ waits: boolean } | void>,
    wait: number,
    form: FormQuery['form'],
    caller: Caller,
    waitForOthers = wait,
  ) {
    let headers = {};
    let waits: boolean | undefined;
    try {
      waits = (await act())?.waits;
    } catch (error) {
      if (!(error instanceof Replayed)) throw error;
      recordsNothing();
      headers = { 'Idempotent-Replayed': 'true' };
      const { status, body } = error.answer;
      if (status === 409) throw notExecutable(body as RefusedApproval, headers);
      waits = (body as { waits?: boolean }).waits;
    }
    const row = await this.awaited(id, waits ? waitForOthers : wait, caller);
    return reply(200, { request: present(row, form, 'camel') }, headers);
  }

  private awaited(id: string, wait: number, caller: Caller): Promise<RequestRow> {
    return this.waiters.until(id, caller, wait, () => this.find(id, caller), isFinalRequest);
  }

  private async find(id: string, caller: Caller): Promise<RequestRow> {
    const row = await this.requests.find(caller.scope, id);
    if (!row) throw new Problem('NOT_FOUND', 'There is no such request.');
    return row;
  }
}

/** A repeated decision under the same key shows the request as it stands, like the first. */
async function headersOf(act: () => Promise<void>): Promise<Record<string, string>> {
  try {
    await act();
    return {};
  } catch (error) {
    if (!(error instanceof Replayed)) throw error;
    recordsNothing();
    const headers = { 'Idempotent-Replayed': 'true' };
    const { status, body } = error.answer;
    if (status === 409) throw notExecutable(body as RefusedApproval, headers);
    return headers;
  }
}

/** Decided, and if it was approved, its execution closed. */
function isFinalRequest(row: RequestRow): boolean {
  if (row.status === 'pending' || row.status === 'escalated') return false;
  return row.status !== 'approved' || !(row.executionStatus === 'pending_hitl' || row.executionStatus === 'running');
}
