import { BLOCKED, type GateDecision } from '../../gate/decide.js';
import { onBehalfOf } from '../../hitl/on-behalf-of.js';
import type { EscalationLevel, HitlCommand } from '../../hitl/transition.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import { number, type OpenEntry, text, timeIn } from '../entry/open-entry.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import { basisIn, deciderIn, type RecordedBasis, votersIn } from './recorded-basis.js';
import { type RecordedApproval, type RecordedStep, replayApproval, replayStep } from './replay-approval.js';
import { grantInForce, type RecordedCall, type RecordedDecision, replayDecision } from './replay-decision.js';
import { hashOfInput, mayRunUnder, notItsWindow, type RequestState, whyNotApproved } from './replay-request.js';
import { notReplayable, type ReplayResult, wrong } from './replay-result.js';
import { AgentChain } from './state/agent-chain.js';
import type { AgentState } from './state/agent-state.js';
import type { FactsAt } from './state/facts-at.js';
import type { GrantState } from './state/grant-state.js';
import type { SharedFacts } from './state/shared-facts.js';

/** Decides again, with the facts of the decision's basis; or what is plain without them. */
export type Replayed = ((facts: FactsAt) => ReplayResult) | ReplayResult;

/** What began under an approval and is still running. */
interface Running {
  readonly request: RequestState;
  readonly call: RecordedCall;
}

/** Follows the entries of one agent's chain, and decides anew what each of them decided. */
export class ReplayChain {
  private readonly own: AgentChain;
  private readonly requests = new Map<string, RequestState>();
  private readonly waiting = new Map<string, string>();
  private readonly running = new Map<string, Running>();

  constructor(private readonly first: StoredEntry, private readonly shared: SharedFacts) {
    this.own = new AgentChain(first, shared);
  }

  /** @returns what it decided, to be decided again; nothing where it tells of no decision */
  entry(opened: OpenEntry): Replayed | undefined {
    const { stored: { event }, metadata } = opened;
    switch (event) {
      case 'execution.started':
        return this.started(opened);
      case 'execution.retried':
        return this.retried(opened);
      case 'execution.blocked':
        return this.blocked(opened);
      case 'execution.completed':
      case 'execution.failed':
        return void this.running.delete(text(metadata, 'executionId') ?? '');
      case 'execution.cancelled':
        return this.forget(this.waiting.get(text(metadata, 'executionId') ?? ''));
      default:
        if (event.startsWith('hitl.')) return this.request(opened);
        this.own.take(opened);
        return undefined;
    }
  }

  private started(opened: OpenEntry): Replayed {
    const { metadata } = opened;
    const call = this.callOf(opened);
    const executionId = text(metadata, 'executionId') ?? '';
    const requestId = text(metadata, 'hitlId') ?? this.waiting.get(executionId);
    const recorded = recordedIn(metadata);
    if (requestId === undefined && metadata['decisionId'] === undefined) {
      return (facts) =>
        replayDecision(call, { ...recorded, fits: (one) => one.kind === 'run' && one.flagged === recorded.isFlagged }, facts);
    }
    const request = this.requests.get(requestId ?? '');
    const problem = whyNotApproved(request, opened, executionId);
    this.forget(requestId);
    if (problem !== undefined) return wrong(problem);
    this.running.set(executionId, { request: request!, call });
    const [input, approved] = [hashOfInput(opened), request!.inputHash];
    if (input !== undefined && approved !== undefined && input !== approved) {
      return wrong(`what began is not what ${requestId} asked for`);
    }
    const isUnread = input === undefined || approved === undefined;
    return (facts) => {
      const result = replayDecision({ ...call, byAgent: false }, { ...recorded, fits: underApproval(request!) }, facts);
      return isUnread && result.kind === 'right' ? notReplayable('erased') : result;
    };
  }

  /** The gate was asked again, of the same call. */
  private retried({ stored, metadata }: OpenEntry): Replayed {
    const running = this.running.get(text(metadata, 'executionId') ?? '');
    if (!running) return wrong(`${text(metadata, 'executionId')} was begun again and was not running`);
    const call = { ...running.call, ...this.standing(stored.capability ?? ''), byAgent: false };
    return (facts) => replayDecision(call, { ...recordedIn(metadata), fits: underApproval(running.request) }, facts);
  }

  private blocked(opened: OpenEntry): Replayed {
    const call = { ...this.callOf(opened), byAgent: false };
    const recorded = recordedIn(opened.metadata);
    const { reason } = recorded;
    const fits = (one: GateDecision) =>
      (one.kind === 'refuse' ? one.code === reason : one.kind === 'block' && (reason === BLOCKED || reason === 'CAPABILITY_BLOCKED'));
    return (facts) => replayDecision(call, { ...recorded, fits }, facts);
  }

  private request(opened: OpenEntry): Replayed | undefined {
    const { stored: { event, actorId, seq }, metadata } = opened;
    const id = text(metadata, 'hitlId') ?? '';
    if (event === 'hitl.created') return this.created(id, opened);
    const request = this.requests.get(id);
    if (!request) return event === 'hitl.approved' ? wrong(`${id} was approved and nobody had asked`) : undefined;
    const change = (changed: Partial<RequestState>) =>
      void this.requests.set(id, { ...request, hasRunOut: false, isApprovedByTime: false, ...changed });
    switch (event) {
      case 'hitl.voted':
        change({ voters: [...request.voters, actorId] });
        return this.step(opened, request, 'approve', { kind: 'vote', approvals: 0, needed: 0 });
      case 'hitl.edited':
        change({
          digest: text(metadata, 'digest'), inputHash: hashOfInput(opened), voters: [], initiators: [...request.initiators, actorId],
          lastEdit: { by: actorId, seq, before: request.initiators },
        });
        return this.step(opened, request, 'edit', { kind: 'edit', version: 0, digest: '', input: {}, diff: null });
      case 'hitl.escalated':
        return this.escalated(request, opened, change);
      case 'hitl.timed_out':
        // Somebody's hand may pull the trigger before its time.
        change({ hasRunOut: actorId === 'system', isApprovedByTime: actorId === 'system' && text(metadata, 'action') === 'approve' });
        return ['approve', 'escalate'].includes(text(metadata, 'action') ?? '') ? undefined : this.forget(id);
      case 'hitl.rejected':
        this.forget(id);
        return this.step(opened, request, 'reject', { kind: 'reject' });
      case 'hitl.cancelled':
        return this.forget(id);
      case 'hitl.approved':
        return this.approved(request, opened, change);
      default:
        return undefined;
    }
  }

  private created(id: string, opened: OpenEntry): Replayed {
    const { stored, metadata } = opened;
    const call = this.callOf(opened);
    const recorded = { ...recordedIn(metadata), expiresAt: timeIn(metadata['expiresAt']) };
    const mode = text(metadata, 'hitlMode') === 'escalate' ? 'escalate' : 'propose';
    const executionId = text(metadata, 'executionId');
    const basis = basisIn(metadata);
    const grant = basis && this.grantAt(call, recorded, basis);
    this.requests.set(id, {
      id, executionId, capability: call.capability, mode, level: levelIn(metadata) ?? 0, definition: recorded.definition,
      digest: text(metadata, 'digest'), inputHash: hashOfInput(opened), expiresAt: recorded.expiresAt,
      grant, windowMs: windowOf(grant, basis, recorded.expiresAt), opened: basis, openedSeq: stored.seq,
      initiators: [stored.actorId, ...namesIn(onBehalfOf(call.context))], lastEdit: undefined, voters: [], hasRunOut: false,
      isApprovedByTime: false, approval: undefined,
    });
    if (executionId !== undefined) this.waiting.set(executionId, id);
    // An adapter that asks for an approval gets a person also where the gate would let it run.
    const fits = (one: GateDecision) =>
      one.flagged === recorded.isFlagged && (one.kind === 'ask' ? one.mode === mode : one.kind === 'run' && mode === 'propose');
    return (facts) => replayDecision(call, { ...recorded, fits }, facts);
  }

  /** A window begins anew, as long as the first; a person's escalation goes up one level. */
  private escalated(request: RequestState, opened: OpenEntry, change: (to: Partial<RequestState>) => void): Replayed | undefined {
    const { stored: { seq, actorId }, metadata } = opened;
    const [level, expiresAt, basis] = [levelIn(metadata) ?? request.level, timeIn(metadata['expiresAt']), basisIn(metadata)];
    change({ level, expiresAt, opened: basis ?? request.opened, openedSeq: seq });
    const { windowMs } = request;
    if (actorId !== 'system') return this.step(opened, request, 'escalate', { kind: 'escalate', reason: '' }, { level, expiresAt });
    // Nothing but time was asked where its window ended, or was about to.
    const begun = request.hasRunOut ? request.expiresAt : basis?.at;
    if (begun === undefined || expiresAt === undefined || windowMs === undefined) return undefined;
    return expiresAt < begun + windowMs ? wrong(notItsWindow(windowMs)) : undefined;
  }

  private approved(request: RequestState, opened: OpenEntry, change: (to: Partial<RequestState>) => void): Replayed {
    const { stored, metadata, erased } = opened;
    const [decider, voters] = [deciderIn(metadata), votersIn(metadata)];
    const isByTime = stored.actorId === 'system';
    const levels = [...(decider ? [decider] : []), ...(voters ?? [])].map(({ level }) => level);
    change({ approval: { entryId: stored.id, level: isByTime ? null : (Math.min(...levels) as EscalationLevel) } });
    const call: RecordedCall = {
      ...this.standing(request.capability), agentId: stored.chain, capability: request.capability, input: {}, context: undefined,
      erased: { input: undefined, context: undefined }, byAgent: false,
    };
    const brokenGlass = metadata['breakGlass'] === true
      ? { reason: erased.has('comment') ? undefined : (text(metadata, 'comment') ?? '') } : undefined;
    const recorded: Omit<RecordedApproval, 'grant'> = {
      ...this.stepOf(opened, request), kind: 'approve', command: { kind: 'approve' }, digest: text(metadata, 'digest'), brokenGlass, voters,
    };
    return (facts) => {
      const grant = grantInForce(call, { ...recordedIn(metadata), fits: () => true }, facts);
      return this.known(recorded.agent, replayApproval({ ...recorded, grant }, facts));
    };
  }

  /** @param becomes of an escalation: what it says comes of it */
  private step(
    opened: OpenEntry, request: RequestState, kind: RecordedStep['kind'], command: HitlCommand, becomes?: RecordedStep['becomes'],
  ): Replayed {
    const recorded = { ...this.stepOf(opened, request), kind, command, ...(becomes ? { becomes } : {}) };
    return (facts) => this.known(recorded.agent, replayStep(recorded, facts));
  }

  private stepOf({ stored: { actorId, seq }, metadata }: OpenEntry, request: RequestState): Omit<RecordedStep, 'kind' | 'command'> {
    return {
      actorId, seq, request, decider: deciderIn(metadata), agent: this.own.agent,
      isStopped: this.own.isStopped === true, wasStopped: this.own.mayHaveBeenStoppedSince(request.openedSeq),
    };
  }

  /** Of an agent whose registration was swept nobody can tell more than that it may have been right. */
  private known(agent: AgentState, result: ReplayResult): ReplayResult {
    return agent.isKnown || result.kind === 'wrong' ? result : notReplayable('swept');
  }

  /** What is true of the agent, whatever is called. */
  private standing(capability: string): Pick<RecordedCall, 'agent' | 'own' | 'revoked' | 'isStopped'> {
    const { agent, revoked, isStopped } = this.own;
    return { agent, own: this.own.grant(capability), revoked, isStopped };
  }

  private callOf({ stored, metadata, erased }: OpenEntry): RecordedCall {
    const { input, context } = metadata;
    const capability = stored.capability ?? '';
    return {
      ...this.standing(capability), agentId: stored.chain, capability,
      input: isJsonObject(input) ? input : {}, context: isJsonObject(context) ? context : undefined,
      erased: { input: erased.get('input'), context: erased.get('context') }, byAgent: stored.actorId === stored.chain,
    };
  }

  /** The grant that a request names, as it was. */
  private grantAt(call: RecordedCall, recorded: Omit<RecordedDecision, 'fits'>, basis: RecordedBasis): GrantState | undefined {
    const facts = this.shared.at(this.first.organizationId, basis, 'at best');
    const grant = grantInForce(call, { ...recorded, fits: () => true }, facts);
    return grant?.isUnknown || (grant?.facts.id === recorded.grantId && grant?.facts.version === recorded.grantVersion) ? grant : undefined;
  }

  private forget(requestId: string | undefined): undefined {
    const executionId = this.requests.get(requestId ?? '')?.executionId;
    this.requests.delete(requestId ?? '');
    if (executionId !== undefined) this.waiting.delete(executionId);
    return undefined;
  }
}

/** As the grant gives it, or, of one that is not known, as the request has it. */
function windowOf(grant: GrantState | undefined, basis: RecordedBasis | undefined, expiresAt: number | undefined): number | undefined {
  if (grant && !grant.isUnknown) return grant.facts.timeoutSeconds * 1_000;
  return basis && expiresAt !== undefined ? expiresAt - basis.at : undefined;
}

const underApproval = (request: RequestState): RecordedDecision['fits'] => (decision, grant) => mayRunUnder(decision, grant, request);

/** Longer than anybody is called: it names nobody, and is not kept. */
const LONGEST_NAME = 1_000;

function namesIn(name: string | undefined): string[] {
  return name === undefined || name.length > LONGEST_NAME ? [] : [name];
}

function levelIn({ level }: JsonObject): EscalationLevel | undefined {
  return level === 0 || level === 1 || level === 2 ? level : undefined;
}

function recordedIn(metadata: JsonObject): Omit<RecordedDecision, 'fits'> {
  return {
    isFlagged: metadata['flagged'] === true, reason: text(metadata, 'reason'), grantId: text(metadata, 'grantId'),
    grantVersion: number(metadata, 'grantVersion'), definition: text(metadata, 'definition'),
  };
}
