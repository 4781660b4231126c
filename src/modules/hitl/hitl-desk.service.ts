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
    const { rows, total, nextCursor } = await this.requests.list(caller.scope, { ...query, ...assigneeOf(query, caller) }, page);
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
    const { headers } = await outcomeOf(() => this.escalating.escalate(id, escalation, caller));
    return reply(200, present(await this.find(id, caller), form, 'snake'), headers);
  }

  async envelope(id: string, { form }: FormQuery, caller: Caller) {
    return { request: present(await this.find(id, caller), form, 'camel') };
  }

  /** @param waitForOthers instead of `wait`, where it decided nothing yet */
  private async decided(
    id: string, act: () => Promise<Deed>, wait: number, form: FormQuery['form'], caller: Caller, waitForOthers = wait,
  ) {
    const { waits, headers } = await outcomeOf(act);
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

/** Queues are people's: nothing stands in root's, or in an agent's. */
function assigneeOf({ assignedTo }: RequestListQuery, { principal }: Caller): { assignedTo?: string } {
  if (assignedTo === undefined) return {};
  if (assignedTo === 'me') {
    if (principal.kind === 'user') return { assignedTo: principal.userId };
    throw new Problem('VALIDATION_FAILED', 'Only people have a queue. Name a user, or leave `assignedTo` out to list all requests.', {
      errors: [{ pointer: '?assignedTo', message: 'must be the id of a user, for this caller is none' }],
    });
  }
  if (principal.kind === 'agent') throw new Problem('FORBIDDEN', 'Queues are for people. Leave `assignedTo` out to list your requests.');
  return { assignedTo };
}

/** `waits`: others still have to decide. */
type Deed = { waits: boolean } | void;

/** A repeated decision under the same key shows the request as it stands, like the first. */
async function outcomeOf(act: () => Promise<Deed>): Promise<{ waits: boolean; headers: Record<string, string> }> {
  try {
    return { waits: (await act())?.waits ?? false, headers: {} };
  } catch (error) {
    if (!(error instanceof Replayed)) throw error;
    recordsNothing();
    const headers = { 'Idempotent-Replayed': 'true' };
    const { status, body } = error.answer;
    if (status === 409) throw notExecutable(body as RefusedApproval, headers);
    return { waits: (body as { waits?: boolean }).waits ?? false, headers };
  }
}

/** Decided, and if it was approved, its execution closed. */
function isFinalRequest(row: RequestRow): boolean {
  if (row.status === 'pending' || row.status === 'escalated') return false;
  return row.status !== 'approved' || !(row.executionStatus === 'pending_hitl' || row.executionStatus === 'running');
}
