import { isJsonObject, type JsonObject } from '../../json.js';
import { number, type OpenEntry, text } from '../entry/open-entry.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import { erasureAfter, grantAfter, type LastingAfter, type LastingRecord, secretAfter, taskAfter } from './lasting-records.js';
import {
  type ClaimKind, type ClaimValue, type EntryRef, entryRefOf, type FollowedChain, keyOfClaim, type RecordedFact,
  type RecordedFactListener,
} from './record-claim.js';
import { type LastingKind, UNASKED } from './record-row.js';
import { brief, type RecordedText, recordedTexts, type TextMembers, TEXTS } from './record-text.js';

type Members = Record<string, ClaimValue>;
type Texts = Record<string, RecordedText>;

/** A record so far. */
type Recorded = Pick<RecordedFact, 'capability' | 'ref'> & LastingRecord;

/** An execution or a request that is open. */
interface Open {
  readonly capability: string;
  status: string;
  members: Members;
  texts: Texts;
  ref: EntryRef;
}

interface OpenRequest extends Open {
  readonly executionId: string | undefined;
  /** The input as it was before an edit, which a request shows once it was edited. */
  readonly requestedInput: RecordedText;
}

export const RECORD_EVENTS: ReadonlySet<string> = new Set([
  'execution.started', 'execution.retried', 'execution.completed', 'execution.failed', 'execution.blocked', 'execution.cancelled',
  'execution.reported', 'execution.settled', 'hitl.created', 'hitl.approved', 'hitl.rejected', 'hitl.escalated', 'hitl.timed_out',
  'hitl.cancelled', 'hitl.edited', 'hitl.voted', 'capability.granted', 'capability.config_updated', 'capability.revoked',
  'gdpr.erasure_requested', 'gdpr.erasure_confirmed', 'task.delegated', 'task.ended', 'admin.secret_changed',
]);

/** Those of them whose committed values are needed, too. */
export const WITH_VALUES: ReadonlySet<string> = new Set(
  [...RECORD_EVENTS].filter((event) => !['execution.retried', 'execution.cancelled', 'capability.revoked', 'task.ended'].includes(event)),
);

/** Texts of an execution that has neither been edited nor ended. */
const NO_OUTCOME: Texts = { diff: null, editor: null, output: null, error: null };
/** Texts of a request that nobody has edited, escalated or decided. */
const NO_DECISION: Texts = { requestedInput: null, diff: null, escalationReason: null, note: null };

/** The recorded state by the entries of one chain. The listener gets a record as it ends, all others at the end of the chain. */
export class RecordedState {
  private readonly executions = new Map<string, Open>();
  private readonly requests = new Map<string, OpenRequest>();
  private readonly lasting: Readonly<Record<LastingKind, Map<string, Recorded>>> = {
    grant: new Map(), erasure: new Map(), task: new Map(), secret: new Map(),
  };

  constructor(private readonly chain: FollowedChain, private readonly listener: RecordedFactListener) {}

  entry(opened: OpenEntry): void {
    const { stored: { event }, metadata } = opened;
    if (event.startsWith('gdpr.')) this.last('erasure', text(metadata, 'erasureId'), opened);
    else if (event.startsWith('capability.')) this.last('grant', text(metadata, 'grantId'), opened);
    else if (event.startsWith('task.')) this.last('task', text(metadata, 'taskId'), opened);
    else if (event.startsWith('admin.')) this.last('secret', text(metadata, 'secretName'), opened);
    else if (event.startsWith('hitl.')) this.request(text(metadata, 'hitlId'), opened);
    else this.execution(text(metadata, 'executionId'), opened);
  }

  /** After the last entry of the chain. */
  end(): void {
    for (const [id, execution] of this.executions) this.report('execution', id, execution, null);
    for (const [id, request] of this.requests) this.report('request', id, request, null);
    for (const [kind, records] of Object.entries(this.lasting) as [LastingKind, Map<string, Recorded>][]) {
      for (const [id, record] of records) this.report(kind, id, record, null, kind === 'erasure' ? null : this.chain.agentId);
    }
  }

  private last(kind: LastingKind, id: string | undefined, opened: OpenEntry): void {
    if (id === undefined) return;
    const { lasting: { [kind]: records } } = this;
    const { stored } = opened;
    const after = this.lastingAfter(kind, records.get(id), id, opened);
    if (typeof after === 'string') this.contradict(entryRefOf(stored), after);
    else if (!after) records.delete(id);
    else records.set(id, { ...after, capability: kind === 'grant' ? (stored.capability ?? '') : '', ref: entryRefOf(stored) });
  }

  private lastingAfter(kind: LastingKind, known: LastingRecord | undefined, id: string, opened: OpenEntry): LastingAfter {
    const { chain: { isCut } } = this;
    const texts = () => this.texts(kind, id, opened, TEXTS[kind]);
    switch (kind) {
      case 'grant':
        return grantAfter(known, id, opened, isCut);
      case 'erasure':
        return erasureAfter(known, id, opened, isCut, texts());
      case 'task':
        return taskAfter(known, id, opened, isCut, texts);
      case 'secret':
        return secretAfter(opened);
    }
  }

  private execution(id: string | undefined, opened: OpenEntry): void {
    if (id === undefined) return;
    const { stored, metadata } = opened;
    const ref = entryRefOf(stored);
    const open = this.executions.get(id);
    const durationMs = number(metadata, 'durationMs') ?? null;
    switch (stored.event) {
      case 'execution.started':
        if (open?.status === 'running') this.contradict(ref, `begins execution ${id} a second time`);
        return this.start(id, open, opened);
      case 'execution.retried':
        if (open?.status !== 'running') return this.contradict(ref, `begins execution ${id} again, which was not running`);
        return void Object.assign(open.members, grantNamedIn(metadata));
      case 'execution.completed':
      case 'execution.failed':
        if (open?.status !== 'running') return this.contradict(ref, `closes execution ${id}, which was not running`);
        open.members['durationMs'] = durationMs;
        Object.assign(open.texts, this.texts('execution', id, opened, TEXTS.closed));
        return this.close(id, open, closedStatus(stored, metadata), stored);
      case 'execution.cancelled':
        if (open?.status !== 'pending_hitl') return this.contradict(ref, `cancels execution ${id}, which was not waiting to begin`);
        open.members['reason'] = text(metadata, 'reason') ?? null;
        return this.close(id, open, 'cancelled', stored);
      case 'execution.blocked':
        return this.report('execution', id, {
          status: 'blocked', capability: stored.capability ?? '', ref,
          members: { ...askedBy(opened), ...taskIn(metadata), mode: 'block', reason: text(metadata, 'reason') ?? null },
          texts: { ...NO_OUTCOME, ...this.texts('execution', id, opened, TEXTS.asked) },
        }, stored.id);
      case 'execution.reported':
        // The row keeps what closed the execution; an answer that came in late is in its entry alone.
        return metadata['late'] === true ? undefined : this.reportLater('report', id, opened, { durationMs }, TEXTS.reported);
      case 'execution.settled':
        return this.reportLater('settlement', id, opened, { settledBy: stored.actorId }, TEXTS.settled);
      default:
    }
  }

  /** Where a person was asked first, the request's entry has the caller, and the reasons of the gate. */
  private start(id: string, asked: Open | undefined, opened: OpenEntry): void {
    const { stored, metadata } = opened;
    const hitlId = text(metadata, 'hitlId') ?? null;
    const { requestedBy, flagged } = asked?.members ?? askedBy(opened);
    this.last('task', text(metadata, 'taskId'), opened);
    this.executions.set(id, {
      status: 'running', capability: stored.capability ?? '', ref: entryRefOf(stored),
      members: {
        grantId: null, grantVersion: null, ...grantNamedIn(metadata), hitlId, mode: hitlId === null ? UNASKED : null,
        definition: text(metadata, 'definition') ?? null, requestedBy, flagged, ...taskIn(metadata),
      },
      texts: { ...NO_OUTCOME, ...asked?.texts, ...this.texts('execution', id, opened, asked ? TEXTS.started : TEXTS.asked) },
    });
  }

  private request(id: string | undefined, opened: OpenEntry): void {
    if (id === undefined) return;
    const { stored, metadata } = opened;
    if (stored.event === 'hitl.created') return this.ask(id, opened);
    const ref = entryRefOf(stored);
    const request = this.requests.get(id);
    if (!request) return this.contradict(ref, `decides request ${id}, which was not open`);
    request.ref = ref;
    switch (stored.event) {
      case 'hitl.edited':
        return this.edit(id, request, opened);
      case 'hitl.voted':
        return this.vote(id, request, opened);
      case 'hitl.escalated':
        request.status = 'escalated';
        Object.assign(request.members, { level: number(metadata, 'level') ?? null, escalatedTo: text(metadata, 'escalatedTo') ?? null });
        return void Object.assign(request.texts, this.texts('request', id, opened, TEXTS.escalated));
      case 'hitl.timed_out':
        // Where the timeout approves or escalates, another entry of the same commit says so.
        return ['approve', 'escalate'].includes(text(metadata, 'action') ?? '') ? undefined : this.decide(id, request, 'timed_out', opened);
      case 'hitl.approved':
        request.members['breakGlass'] = metadata['breakGlass'] === true;
        return this.decide(id, request, 'approved', opened);
      default:
        return this.decide(id, request, stored.event === 'hitl.rejected' ? 'rejected' : 'cancelled', opened);
    }
  }

  /** Opens the request, and the execution that waits for its decision. */
  private ask(id: string, opened: OpenEntry): void {
    const { stored, metadata } = opened;
    const [ref, capability, mode] = [entryRefOf(stored), stored.capability ?? '', text(metadata, 'hitlMode') ?? null];
    const executionId = text(metadata, 'executionId');
    const { requestedBy, flagged } = askedBy(opened);
    const same = {
      grantId: text(metadata, 'grantId') ?? null, definition: text(metadata, 'definition') ?? null, flagged, ...taskIn(metadata),
    };
    this.last('task', text(metadata, 'taskId'), opened);
    const { requestedInput, ...texts } = this.texts('request', id, opened, TEXTS.requested);
    this.requests.set(id, {
      status: mode === 'escalate' ? 'escalated' : 'pending', capability, executionId, ref, requestedInput,
      members: {
        ...same, executionId: executionId ?? null, mode, level: number(metadata, 'level') ?? null, digest: text(metadata, 'digest') ?? null,
        version: 1, createdBy: requestedBy, breakGlass: false, isVoted: true, taskOwner: text(metadata, 'taskOwnerId') ?? null,
      },
      texts: { ...NO_DECISION, ...texts },
    });
    if (executionId === undefined) return;
    this.executions.set(executionId, {
      status: 'pending_hitl', capability, ref,
      members: { ...same, grantVersion: number(metadata, 'grantVersion') ?? null, hitlId: id, requestedBy },
      texts: { ...NO_OUTCOME, ...this.texts('execution', executionId, opened, TEXTS.asked) },
    });
  }

  /** An edit may change the mode, and changes the reasons of the gate; no entry says to what. */
  private edit(id: string, { members, texts, requestedInput, executionId }: OpenRequest, opened: OpenEntry): void {
    const { stored, metadata } = opened;
    const version = number(metadata, 'version') ?? null;
    Object.assign(members, { version, digest: text(metadata, 'digest') ?? null, mode: null, editedBy: stored.actorId });
    Object.assign(texts, { requestedInput, reasons: null }, this.texts('request', id, opened, TEXTS.edited));
    const execution = executionId === undefined ? undefined : this.executions.get(executionId);
    if (!execution) return;
    Object.assign(execution.texts, this.texts('execution', executionId!, opened, TEXTS.edited), { editor: brief(stored.actorId) });
  }

  private vote(hitlId: string, { capability, members: { version, digest } }: OpenRequest, opened: OpenEntry): void {
    const { stored } = opened;
    const id = `${hitlId} ${String(version)} ${stored.actorId}`;
    const texts = this.texts('vote', id, opened, TEXTS.decided);
    this.report('vote', id, { status: 'voted', capability, members: { digest }, texts, ref: entryRefOf(stored) }, stored.id);
  }

  /** An execution whose request was not approved ends with the same entry. */
  private decide(id: string, request: OpenRequest, status: string, opened: OpenEntry): void {
    const { stored } = opened;
    const isTimedOut = status === 'timed_out';
    const decidedBy = isTimedOut ? 'system' : stored.actorId;
    const endedBy = isTimedOut ? 'timeout' : decidedBy === 'system' ? 'system' : 'human';
    Object.assign(request.members, { decidedBy, outcome: isTimedOut ? 'rejected' : status, endedBy });
    Object.assign(request.texts, this.texts('request', id, opened, TEXTS.decided));
    this.requests.delete(id);
    this.report('request', id, { ...request, status }, stored.id);
    const execution = request.executionId === undefined ? undefined : this.executions.get(request.executionId);
    if (status === 'approved' || execution?.status !== 'pending_hitl') return;
    execution.members['reason'] = status;
    this.close(request.executionId!, execution, 'cancelled', stored);
  }

  private close(id: string, execution: Open, status: string, stored: StoredEntry): void {
    this.executions.delete(id);
    this.report('execution', id, { ...execution, status, ref: entryRefOf(stored) }, stored.id);
  }

  private reportLater(kind: 'report' | 'settlement', id: string, opened: OpenEntry, members: Members, recorded: TextMembers): void {
    const { stored, metadata } = opened;
    const [capability, texts, ref] = [stored.capability ?? '', this.texts(kind, id, opened, recorded), entryRefOf(stored)];
    this.report(kind, id, { status: text(metadata, 'outcome') ?? '', capability, members, texts, ref }, null, null);
  }

  private report(kind: ClaimKind, id: string, record: Recorded, entryId: string | null, agentId = this.chain.agentId): void {
    const { capability, status, members, texts, ref } = record;
    const { organizationId } = this.chain;
    this.listener.fact({ kind, id, organizationId, agentId, capability, status, entryId, members, texts, ref });
  }

  private texts(kind: ClaimKind, id: string, opened: OpenEntry, recorded: TextMembers): Texts {
    const key = keyOfClaim({ kind, organizationId: this.chain.organizationId, id });
    return recordedTexts(opened, recorded, this.listener.erasedInRow(key));
  }

  private contradict(ref: EntryRef, what: string): void {
    this.listener.contradiction(ref, what);
  }
}

function askedBy({ stored, metadata }: OpenEntry): Members {
  return { requestedBy: stored.actorId, flagged: metadata['flagged'] === true };
}

/** The task that the call does, and the other agents of its chain. */
function taskIn({ taskId, delegators = [] }: JsonObject): Members {
  if (typeof taskId !== 'string') return {};
  const agents = (Array.isArray(delegators) ? delegators : []).filter(isJsonObject).map((one) => text(one, 'agentId') ?? '');
  return { taskId, delegators: agents.join(' ') };
}

function grantNamedIn(metadata: JsonObject): Members {
  const [grantId, grantVersion] = [text(metadata, 'grantId'), number(metadata, 'grantVersion')];
  return { ...(grantId === undefined ? {} : { grantId }), ...(grantVersion === undefined ? {} : { grantVersion }) };
}

function closedStatus({ event }: StoredEntry, metadata: JsonObject): string {
  if (event === 'execution.completed') return 'executed';
  return metadata['outcome'] === 'indeterminate' ? 'indeterminate' : 'failed';
}
