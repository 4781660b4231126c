import { Injectable } from '@nestjs/common';
import { isId } from '../../domain/ids.js';
import { recordsNothing } from '../../platform/auth/access/call-context.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import { StatementsOnPool } from '../../platform/database/statements/statements-on-pool.js';
import { Replayed } from '../../platform/database/transaction/idempotency.js';
import { Problem } from '../../platform/http/reply/problem.js';
import type { PageRequest } from '../../platform/http/fields/pagination.js';
import { invalid } from '../../platform/http/fields/read-members.js';
import { reply } from '../../platform/http/reply/replies.js';
import { type FirstOf, Waiters } from '../../platform/wake/waiters.js';
import { type Approval, DecideRequestService } from './decisions/decide-request.service.js';
import { EscalateRequestService, type Escalation } from './decisions/escalate-request.service.js';
import { UsersQuery } from '../organizations/users/users.query.js';
import type { FormQuery, RequestListQuery, RequestWaitQuery } from './hitl.dto.js';
import { presentRequest, presentRequestSnake } from './hitl.presenter.js';
import type { DecidableBy } from './queue/decidable-by.js';
import { EligibleDecidersQuery } from './queue/eligible-deciders.query.js';
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
    private readonly deciders: EligibleDecidersQuery,
    private readonly users: UsersQuery,
    private readonly waiters: Waiters,
    private readonly pool: StatementsOnPool,
  ) {}

  async list(query: RequestListQuery, page: PageRequest, caller: Caller) {
    const assignee = await this.assigneeOf(query, caller);
    const { rows, total, nextCursor } = await this.requests.list(caller.scope, { ...query, ...assignee }, page);
    const found = assignee.assignedTo === undefined ? NOBODY_ASKED : await this.decidableBy(rows);
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

  /** Only people have queues; root and agents have none. */
  private async assigneeOf(
    { assignedTo, organizationId }: RequestListQuery, { principal, scope }: Caller,
  ): Promise<{ assignedTo?: string }> {
    if (assignedTo === undefined) return {};
    if (assignedTo === 'me') {
      if (principal.kind === 'user') return { assignedTo: principal.userId };
      throw new Problem('VALIDATION_FAILED', 'Only people have a queue. Name a user, or leave `assignedTo` out to list all requests.', {
        errors: [{ pointer: '?assignedTo', message: 'must be the id of a user, for this caller is none' }],
      });
    }
    if (principal.kind === 'agent') throw new Problem('FORBIDDEN', 'Queues are for people. Leave `assignedTo` out to list your requests.');
    const isAddress = assignedTo.includes('@');
    if (isId('usr', assignedTo)) return { assignedTo };
    const [id, another] = isAddress ? await this.users.idsOfAddress(scope, assignedTo, organizationId) : [];
    if (id !== undefined && another === undefined) return { assignedTo: id };
    const message = another === undefined
      ? 'must be `me`, or the id or e-mail address of a user' : 'is the address of several accounts: give the id of one';
    throw invalid([{ pointer: '?assignedTo', message }]);
  }

  private async decided(id: string, act: () => Promise<DecisionResult>, waits: AnswerWaits, form: FormQuery['form'], caller: Caller) {
    const { result, headers } = await outcomeOf(act);
    const wait = result === 'waits' ? waits.waitForOthers : waits.wait;
    // An action that was enqueued a moment ago is still open, so the answer waits for the first notification.
    const row = await this.awaited(id, wait, caller, result === 'runs' ? 'news' : 'a look');
    return reply(200, { request: present(row, form, 'camel') }, headers);
  }

  private async withDeciders(row: RequestRow, form: FormQuery['form']) {
    return present(row, form, 'snake', (await this.decidableBy([row])).get(row));
  }

  /** Of the open ones among them. Left out where it cannot be read: what is answered besides must not fail for it. */
  private async decidableBy(rows: readonly RequestRow[]): Promise<ReadonlyMap<RequestRow, DecidableBy>> {
    const open = rows.filter(isOpen);
    const found = await this.deciders.decidableBy(this.pool.run, open).catch(() => []);
    return new Map(found.map((each, i) => [open[i]!, each]));
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
