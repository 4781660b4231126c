import type { JsonObject } from '../../json.js';
import { UNASKED } from './record-row.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import { number, type OpenEntry, text } from '../entry/open-entry.js';
import {
  countedMembers, type ClaimValue, type IsErased, keyOfClaim, type RecordedFactListener, type EntryRef, entryRefOf, type RecordClaim, sentence,
} from './record-claim.js';
import { brief } from './superseded/shown-text.js';
import {
  CLOSED_TEXTS, COMMENTED_TEXTS, CREATED_TEXTS, EDITED_TEXTS, ESCALATED_TEXTS, FIRST_TEXTS, REPORTED_TEXTS, SETTLED_TEXTS, STARTED_TEXTS,
  type Texts, textsIn,
} from './recorded-texts.js';
import { RecordedErasures } from './recorded-erasures.js';
import { RecordedGrants } from './recorded-grants.js';

interface Execution {
  status: 'pending_hitl' | 'running';
  capability: string;
  members: Record<string, ClaimValue>;
  texts: Texts;
  place: EntryRef;
}

interface Request {
  status: string;
  capability: string;
  executionId: string | undefined;
  members: Record<string, ClaimValue>;
  texts: Texts;
  /** What it shows besides once somebody has edited it. */
  first: Texts;
  place: EntryRef;
}

/** Events that it needs. */
export const RECORD_EVENTS: ReadonlySet<string> = new Set([
  'execution.started', 'execution.retried', 'execution.completed', 'execution.failed', 'execution.blocked', 'execution.cancelled',
  'execution.reported', 'execution.settled', 'hitl.created', 'hitl.approved', 'hitl.rejected', 'hitl.escalated', 'hitl.timed_out',
  'hitl.cancelled', 'hitl.edited', 'hitl.voted', 'capability.granted', 'capability.config_updated', 'capability.revoked',
  'gdpr.erasure_requested', 'gdpr.erasure_confirmed',
]);

/** Those of them whose committed values it needs, too. */
export const WITH_VALUES: ReadonlySet<string> = new Set(
  [...RECORD_EVENTS].filter((event) => !['execution.retried', 'execution.cancelled', 'capability.revoked'].includes(event)),
);

/**
 * What the entries of one chain say of executions, requests, grants and erasures. Holds what is still going on, grants and erasures;
 * tells what has ended as it ends, and the rest at the end of the chain.
 */
export class RecordedState {
  private readonly executions = new Map<string, Execution>();
  private readonly requests = new Map<string, Request>();
  private readonly grants: RecordedGrants;
  private readonly erasures: RecordedErasures;

  /** @param isCut the beginning of the chain was swept, so that what it said first is not known */
  constructor(
    private readonly organizationId: string,
    private readonly agentId: string | null,
    isCut: boolean,
    private readonly listener: RecordedFactListener,
  ) {
    this.grants = new RecordedGrants(organizationId, agentId, isCut, listener);
    this.erasures = new RecordedErasures(organizationId, isCut, listener);
  }

  entry(opened: OpenEntry): void {
    const [family] = opened.stored.event.split('.', 1);
    if (family === 'execution') this.execution(opened);
    else if (family === 'hitl') this.request(opened);
    else if (family === 'gdpr') this.erasures.entry(opened);
    else this.grants.entry(opened);
  }

  /** After the last entry of the chain. */
  end(): void {
    for (const [id, { status, ...execution }] of this.executions) this.tellExecution(id, status, execution, null);
    for (const [id, request] of this.requests) this.tellRequest(id, request, null);
    this.grants.end();
    this.erasures.end();
  }

  private execution(opened: OpenEntry): void {
    const { stored, metadata } = opened;
    const id = text(metadata, 'executionId');
    if (id === undefined) return;
    const place = entryRefOf(stored);
    const capability = stored.capability ?? '';
    const known = this.executions.get(id);
    switch (stored.event) {
      case 'execution.started':
        if (known?.status === 'running') this.contradict(place, `begins execution ${id} a second time`);
        return void this.executions.set(id, this.started(id, opened, known));
      case 'execution.retried':
        if (known?.status !== 'running') return this.contradict(place, `begins execution ${id} again, which was not running`);
        Object.assign(known.members, present({ grantId: text(metadata, 'grantId'), grantVersion: number(metadata, 'grantVersion') }));
        return;
      case 'execution.completed':
      case 'execution.failed':
        if (known?.status !== 'running') return this.contradict(place, `closes execution ${id}, which was not running`);
        known.members['durationMs'] = number(metadata, 'durationMs') ?? null;
        Object.assign(known.texts, textsIn(opened, CLOSED_TEXTS, this.erasedIn('execution', id)));
        return this.close(id, closedStatus(stored, metadata), { ...known, place }, stored.id);
      case 'execution.cancelled':
        if (known?.status !== 'pending_hitl') return this.contradict(place, `cancels execution ${id}, which was not waiting to begin`);
        known.members['reason'] = text(metadata, 'reason') ?? null;
        return this.close(id, 'cancelled', { ...known, place }, stored.id);
      case 'execution.blocked':
        return this.tellExecution(id, 'blocked', {
          capability, place,
          members: { requestedBy: stored.actorId, flagged: metadata['flagged'] === true, mode: 'block', reason: text(metadata, 'reason') },
          texts: { ...NOTHING_YET, ...textsIn(opened, CREATED_TEXTS, this.erasedIn('execution', id)) },
        }, stored.id);
      case 'execution.reported':
        // What came in late stands beside the row, which keeps what closed it.
        if (metadata['late'] === true) return;
        return this.tellLater('report', id, opened, { durationMs: number(metadata, 'durationMs') ?? null },
          textsIn(opened, REPORTED_TEXTS, this.erasedIn('report', id)));
      case 'execution.settled':
        return this.tellLater('settlement', id, opened, { settledBy: stored.actorId },
          textsIn(opened, SETTLED_TEXTS, this.erasedIn('settlement', id)));
      default:
    }
  }

  /** What it asks, and by whom, was told before where a person was asked first. */
  private started(id: string, opened: OpenEntry, asked: Execution | undefined): Execution {
    const { stored, metadata } = opened;
    const places = asked ? STARTED_TEXTS : CREATED_TEXTS;
    const { requestedBy = stored.actorId, flagged = metadata['flagged'] === true } = asked?.members ?? {};
    return {
      status: 'running', capability: stored.capability ?? '', place: entryRefOf(stored),
      members: { ...startedMembers(metadata), requestedBy, flagged },
      texts: { ...NOTHING_YET, ...asked?.texts, ...textsIn(opened, places, this.erasedIn('execution', id)) },
    };
  }

  private request(opened: OpenEntry): void {
    const { stored, metadata } = opened;
    const id = text(metadata, 'hitlId');
    if (id === undefined) return;
    const place = entryRefOf(stored);
    if (stored.event === 'hitl.created') return this.asked(id, opened, place);
    const request = this.requests.get(id);
    if (!request) return this.contradict(place, `decides request ${id}, which was not open`);
    request.place = place;
    switch (stored.event) {
      case 'hitl.edited':
        return this.edited(id, request, opened);
      case 'hitl.voted':
        return this.voted(id, request, opened);
      case 'hitl.escalated':
        request.status = 'escalated';
        Object.assign(request.members, { level: number(metadata, 'level'), escalatedTo: text(metadata, 'escalatedTo') ?? null });
        Object.assign(request.texts, textsIn(opened, ESCALATED_TEXTS, this.erasedIn('request', id)));
        return;
      case 'hitl.timed_out': {
        const action = text(metadata, 'action');
        // Another entry of the same commit tells what became of it.
        if (action === 'approve' || action === 'escalate') return;
        return this.decide(id, request, 'timed_out', opened, 'system');
      }
      case 'hitl.approved':
        request.members['breakGlass'] = metadata['breakGlass'] === true;
        return this.decide(id, request, 'approved', opened, stored.actorId);
      case 'hitl.rejected':
        return this.decide(id, request, 'rejected', opened, stored.actorId);
      case 'hitl.cancelled':
        return this.decide(id, request, 'cancelled', opened, stored.actorId);
      default:
    }
  }

  private asked(id: string, opened: OpenEntry, place: EntryRef): void {
    const { stored, metadata } = opened;
    const by = { flagged: metadata['flagged'] === true };
    const capability = stored.capability ?? '';
    const mode = text(metadata, 'hitlMode');
    const executionId = text(metadata, 'executionId');
    const [grantId, definition] = [text(metadata, 'grantId'), text(metadata, 'definition')];
    this.requests.set(id, {
      status: mode === 'escalate' ? 'escalated' : 'pending', capability, executionId, place,
      members: {
        executionId, grantId, definition, mode, level: number(metadata, 'level'), digest: text(metadata, 'digest'),
        version: 1,
        createdBy: stored.actorId, ...by, editedBy: null, escalatedTo: null, decidedBy: null, outcome: null, endedBy: null,
        breakGlass: false, isVoted: true,
      },
      texts: {
        ...textsIn(opened, CREATED_TEXTS, this.erasedIn('request', id)), requestedInput: null, diff: null, escalationReason: null,
        note: null,
      },
      first: textsIn(opened, FIRST_TEXTS, this.erasedIn('request', id)),
    });
    if (executionId === undefined) return;
    this.executions.set(executionId, {
      status: 'pending_hitl', capability, place,
      members: {
        hitlId: id, grantId, grantVersion: number(metadata, 'grantVersion'), definition, requestedBy: stored.actorId, ...by, mode: null,
        reason: null,
      },
      texts: { ...NOTHING_YET, ...textsIn(opened, CREATED_TEXTS, this.erasedIn('execution', executionId)) },
    });
  }

  private edited(id: string, { members, texts, first, executionId }: Request, opened: OpenEntry): void {
    const { stored, metadata } = opened;
    // Its mode may be another by that, and the reasons of the gate are, which no entry names: of edited ones they are not compared.
    Object.assign(members, {
      version: number(metadata, 'version'), digest: text(metadata, 'digest'), mode: null,
      editedBy: stored.actorId,
    });
    Object.assign(texts, first, textsIn(opened, EDITED_TEXTS, this.erasedIn('request', id)), { reasons: null });
    const execution = executionId === undefined ? undefined : this.executions.get(executionId);
    if (!execution) return;
    Object.assign(execution.texts, textsIn(opened, EDITED_TEXTS, this.erasedIn('execution', executionId!)));
    execution.texts['editor'] = brief(stored.actorId);
  }

  private voted(hitlId: string, { capability, members: { version, digest } }: Request, opened: OpenEntry): void {
    const { stored } = opened;
    const id = `${hitlId} ${String(version)} ${stored.actorId}`;
    this.listener.told({
      kind: 'vote', organizationId: this.organizationId, agentId: this.agentId, capability, id, status: 'voted', entryId: stored.id,
      members: { digest }, texts: textsIn(opened, COMMENTED_TEXTS, this.erasedIn('vote', id)), place: entryRefOf(stored),
    });
  }

  /** What was not approved does not begin: its waiting execution ends with the same entry. */
  private decide(id: string, request: Request, status: string, opened: OpenEntry, decidedBy: string): void {
    const { stored } = opened;
    request.status = status;
    const isTimedOut = status === 'timed_out';
    const endedBy = isTimedOut ? 'timeout' : decidedBy === 'system' ? 'system' : 'human';
    Object.assign(request.members, { decidedBy, outcome: isTimedOut ? 'rejected' : status, endedBy });
    Object.assign(request.texts, textsIn(opened, COMMENTED_TEXTS, this.erasedIn('request', id)));
    this.requests.delete(id);
    this.tellRequest(id, request, stored.id);
    const execution = request.executionId === undefined ? undefined : this.executions.get(request.executionId);
    if (status === 'approved' || execution?.status !== 'pending_hitl') return;
    execution.members['reason'] = status;
    this.close(request.executionId!, 'cancelled', { ...execution, place: entryRefOf(stored) }, stored.id);
  }

  private close(id: string, status: string, execution: Omit<Execution, 'status'>, entryId: string): void {
    this.executions.delete(id);
    this.tellExecution(id, status, execution, entryId);
  }

  private tellExecution(id: string, status: string, execution: Omit<Execution, 'status'>, entryId: string | null): void {
    const { capability, members, texts, place } = execution;
    const same = { organizationId: this.organizationId, agentId: this.agentId, capability };
    this.listener.told({ kind: 'execution', ...same, id, status, entryId, members: countedMembers(status, members), texts, place });
  }

  private tellRequest(id: string, { status, capability, members, texts, place }: Request, entryId: string | null): void {
    const same = { organizationId: this.organizationId, agentId: this.agentId, capability };
    this.listener.told({ kind: 'request', ...same, id, status, entryId, members: { ...members }, texts: { ...texts }, place });
  }

  private tellLater(
    kind: 'report' | 'settlement', id: string, { stored, metadata }: OpenEntry, members: Record<string, ClaimValue>, texts: Texts,
  ): void {
    const same = { organizationId: this.organizationId, agentId: null, capability: stored.capability ?? '' };
    this.listener.told({
      kind, ...same, id, status: text(metadata, 'outcome') ?? '', entryId: null, members, texts, place: entryRefOf(stored),
    });
  }

  private erasedIn(kind: RecordClaim['kind'], id: string): IsErased {
    return this.listener.erasedIn(keyOfClaim({ kind, organizationId: this.organizationId, id }));
  }

  private contradict(place: EntryRef, what: string): void {
    this.listener.contradiction(place, sentence(place, what));
  }
}

/** What an execution shows only once it was edited, or has ended. */
const NOTHING_YET: Texts = { diff: null, editor: null, output: null, error: null };

function startedMembers(metadata: JsonObject): Record<string, ClaimValue> {
  return {
    hitlId: text(metadata, 'hitlId') ?? null, mode: text(metadata, 'hitlId') === undefined ? UNASKED : null,
    grantId: text(metadata, 'grantId') ?? null,
    grantVersion: number(metadata, 'grantVersion') ?? null, definition: text(metadata, 'definition'),
  };
}

function closedStatus({ event }: StoredEntry, metadata: JsonObject): string {
  if (event === 'execution.completed') return 'executed';
  return metadata['outcome'] === 'indeterminate' ? 'indeterminate' : 'failed';
}

function present(members: Record<string, ClaimValue>): Record<string, ClaimValue> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
