import { Injectable } from '@nestjs/common';
import { recordsNothing } from '../../platform/auth/access/call-context.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import { Replayed } from '../../platform/database/transaction/idempotency.js';
import { Problem } from '../../platform/http/reply/problem.js';
import type { PageRequest } from '../../platform/http/fields/pagination.js';
import { reply } from '../../platform/http/reply/replies.js';
import { type FirstOf, Waiters } from '../../platform/wake/waiters.js';
import { type Approval, DecideRequestService } from './decisions/decide-request.service.js';
import { EscalateRequestService, type Escalation } from './decisions/escalate-request.service.js';
import type { FormQuery, RequestListQuery, RequestWaitQuery } from './hitl.dto.js';
import { presentRequest, presentRequestSnake } from './hitl.presenter.js';
import type { DecidableBy } from './queue/decidable-by.js';
import { QueueReader } from './queue/queue-reader.js';
import { HitlRequestsQuery, type RequestRow } from './requests/hitl-requests.query.js';
import type { Decision } from './decisions/decision.js';
import { notExecutable, type RefusedApproval } from './requests/refusals.js';

/** How long an approval's answer waits for its action when the caller does not say. */
const APPROVAL_WAIT_SECONDS = 2;

const present = (row: RequestRow, form: FormQuery['form'], usual: 'snake' | 'camel', decidableBy?: DecidableBy) =>
  (form ?? usual) === 'snake' ? presentRequestSnake(row, decidableBy) : presentRequest(row, decidableBy);

/** What a reviewer sees: lists, one request, and the request again after each decision. */
@Injectable()
export class HitlService {
  constructor(
    private readonly requests: HitlRequestsQuery,
    private readonly deciding: DecideRequestService,
    private readonly escalating: EscalateRequestService,
    private readonly queues: QueueReader,
    private readonly waiters: Waiters,
  ) {}

  async list(query: RequestListQuery, page: PageRequest, caller: Caller) {
    const assignee = await this.queues.assigneeOf(query, caller);
    const { rows, total, nextCursor } = await this.requests.list(caller.scope, { ...query, ...assignee }, page);
    const found = assignee.assignedTo === undefined ? NOBODY_ASKED : await this.queues.decidableBy(rows);
    return { requests: rows.map((row) => present(row, query.form, 'camel', found.get(row))), total, ...(nextCursor ? { nextCursor } : {}) };
  }

  async show(id: string, { wait = 0, form }: RequestWaitQuery, caller: Caller) {
    return this.withDeciders(await this.awaited(id, wait, caller), form);
  }

  approve(id: string, decision: Decision, { wait, form }: RequestWaitQuery, caller: Caller) {
    const act = () => this.deciding.approve(id, decision, caller);
    return this.decided(id, act, { wait: wait ?? APPROVAL_WAIT_SECONDS, waitForOthers: wait ?? 0 }, form, caller);
  }

  reject(id: string, decision: Decision, { form }: FormQuery, caller: Caller) {
    return this.decided(id, () => this.deciding.reject(id, decision, caller), AT_ONCE, form, caller);
  }

  cancel(id: string, decision: Decision, { form }: FormQuery, caller: Caller) {
    return this.decided(id, () => this.deciding.cancel(id, decision, caller), AT_ONCE, form, caller);
  }

  async escalate(id: string, escalation: Escalation, { form }: FormQuery, caller: Caller) {
    const { headers } = await outcomeOf(() => this.escalating.escalate(id, escalation, caller));
    return reply(200, await this.withDeciders(await this.find(id, caller), form), headers);
  }

  async envelope(id: string, { form }: FormQuery, caller: Caller) {
    return { request: present(await this.find(id, caller), form, 'camel') };
  }

  private async decided(id: string, act: () => Promise<DecisionResult>, waits: AnswerWaits, form: FormQuery['form'], caller: Caller) {
    const { result, headers } = await outcomeOf(act);
    const wait = result === 'waits' ? waits.waitForOthers : waits.wait;
    // An action that was enqueued a moment ago is still open, so the answer waits for the first notification.
    const row = await this.awaited(id, wait, caller, result === 'runs' ? 'news' : 'a look');
    return reply(200, { request: present(row, form, 'camel') }, headers);
  }

  private async withDeciders(row: RequestRow, form: FormQuery['form']) {
    return present(row, form, 'snake', (await this.queues.decidableBy([row])).get(row));
  }

  private awaited(id: string, wait: number, caller: Caller, first: FirstOf = 'a look'): Promise<RequestRow> {
    return this.waiters.until(id, caller, wait, () => this.find(id, caller), isFinalRequest, first);
  }

  private async find(id: string, caller: Caller): Promise<RequestRow> {
    const row = await this.requests.find(caller.scope, id);
    if (!row) throw new Problem('NOT_FOUND', 'There is no such request.');
    return row;
  }
}

type DecisionResult = Approval | void;

/** How many seconds an answer waits for the action's end, and for other voters where nothing is decided yet. */
interface AnswerWaits {
  readonly wait: number;
  readonly waitForOthers: number;
}

const AT_ONCE: AnswerWaits = { wait: 0, waitForOthers: 0 };

/** A decision that is repeated under its idempotency key is answered with the request's present state, like the first. */
async function outcomeOf(act: () => Promise<DecisionResult>): Promise<{ result: DecisionResult; headers: Record<string, string> }> {
  try {
    return { result: await act(), headers: {} };
  } catch (error) {
    if (!(error instanceof Replayed)) throw error;
    recordsNothing();
    const headers = { 'Idempotent-Replayed': 'true' };
    const { status, body } = error.answer;
    if (status === 409) throw notExecutable(body as RefusedApproval, headers);
    return { result: (body as { waits?: boolean }).waits ? 'waits' : 'done', headers };
  }
}

const NOBODY_ASKED: ReadonlyMap<RequestRow, DecidableBy> = new Map();

const isOpen = ({ status }: RequestRow): boolean => status === 'pending' || status === 'escalated';

/** Decided, and if it was approved, its execution closed. */
function isFinalRequest(row: RequestRow): boolean {
  if (isOpen(row)) return false;
  return row.status !== 'approved' || !(row.executionStatus === 'pending_hitl' || row.executionStatus === 'running');
}
