import { BLOCKED, type GateDecision } from '../../gate/decide.js';
import { onBehalfOf } from '../../hitl/on-behalf-of.js';
import type { EscalationLevel, HitlCommand } from '../../hitl/transition.js';
import { isJsonObject } from '../../json.js';
import { type OpenEntry, text, timeIn } from '../entry/open-entry.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import { basisIn, deciderIn, delegatorsIn, levelIn, type RecordedBasis, votersIn } from './recorded-basis.js';
import { replayApproval, replayStep } from './replay-approval.js';
import { grantInForce, type Link, type RecordedDecision, type RecordedTerms, replayDecision, termsIn } from './replay-decision.js';
import { hashOfInput, mayRunUnder, notItsWindow, type RecordedStep, type RequestState, whyNotApproved } from './replay-request.js';
import { notReplayable, type ReplayResult, wrong } from './replay-result.js';
import { AgentChain, GONE } from './state/agent-chain.js';
import type { FactsAt } from './state/facts-at.js';
import type { GrantState } from './state/grant-state.js';
import type { SharedFacts } from './state/shared-facts.js';

/** Decides again, with the facts of the decision's basis, before the next entry is taken; or a result that needs no facts. */
export type Replayed = ((facts: FactsAt, others: readonly Link[]) => ReplayResult) | ReplayResult;

type Change = (changed: Partial<RequestState>) => void;

/** Follows the entries of one agent's chain, and decides again what each of them decided. */
export class ReplayChain {
  private readonly own: AgentChain;
  private readonly requests = new Map<string, RequestState>();
  /** Requests by the executions that wait for them. */
  private readonly waiting = new Map<string, string>();
  /** Of executions that run under an approval: the request, and the entry of the call. */
  private readonly running = new Map<string, { readonly request: RequestState; readonly call: OpenEntry }>();

  constructor(first: StoredEntry, private readonly shared: SharedFacts) {
    this.own = new AgentChain(first, shared);
  }

  /** @returns nothing for an entry without a decision */
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
        return event.startsWith('hitl.') ? this.request(opened) : this.own.take(opened);
    }
  }

  private started(call: OpenEntry): Replayed {
    const { stored, metadata } = call;
    const executionId = text(metadata, 'executionId') ?? '';
    const requestId = text(metadata, 'hitlId') ?? this.waiting.get(executionId);
    const terms = termsIn(metadata);
    if (requestId === undefined && metadata['decisionId'] === undefined) {
      return this.decision(call, terms, (one) => one.kind === 'run' && one.flagged === terms.isFlagged, stored.actorId === stored.chain);
    }
    const request = this.requests.get(requestId ?? '');
    const problem = whyNotApproved(request, call, executionId);
    this.forget(requestId);
    if (problem !== undefined) return wrong(problem);
    this.running.set(executionId, { request: request!, call });
    const [input, approved] = [hashOfInput(call), request!.inputHash];
    const isUnread = input === undefined || approved === undefined;
    if (!isUnread && input !== approved) return wrong(`what began is not what ${requestId} asked for`);
    const again = this.decision(call, terms, underApproval(request!));
    return (facts, others) => {
      const result = again(facts, others);
      return isUnread && result.kind === 'right' ? notReplayable('erased') : result;
    };
  }

  /** The gate was asked again, of the same call. */
  private retried({ stored, metadata }: OpenEntry): Replayed {
    const executionId = text(metadata, 'executionId');
    const running = this.running.get(executionId ?? '');
    if (running?.call.stored.capability !== stored.capability) return wrong(`${executionId} was begun again and was not running`);
    return this.decision(running!.call, termsIn(metadata), underApproval(running!.request));
  }

  private blocked(call: OpenEntry): Replayed {
    const terms = termsIn(call.metadata);
    const { reason } = terms;
    return this.decision(call, terms, (one) =>
      (one.kind === 'refuse' ? one.code === reason : one.kind === 'block' && (reason === BLOCKED || reason === 'CAPABILITY_BLOCKED')));
  }

  private decision(call: OpenEntry, terms: RecordedTerms, fits: RecordedDecision['fits'], byAgent = false) {
    return (facts: FactsAt, others: readonly Link[]) => replayDecision({ call, own: this.own.now, others, terms, fits, byAgent }, facts);
  }

  private request(opened: OpenEntry): Replayed | undefined {
    const { stored: { event, actorId, seq }, metadata } = opened;
    const id = text(metadata, 'hitlId') ?? '';
    if (event === 'hitl.created') return this.created(id, opened);
    const request = this.requests.get(id);
    if (!request) return event === 'hitl.approved' ? wrong(`${id} was approved and nobody had asked`) : undefined;
    const change: Change = (changed) => void this.requests.set(id, { ...request, hasRunOut: false, isApprovedByTime: false, ...changed });
    const action = text(metadata, 'action') ?? '';
    switch (event) {
      case 'hitl.voted':
        change({ voters: [...request.voters, actorId] });
        return this.step(opened, request, { kind: 'vote', approvals: 0, needed: 0 });
      case 'hitl.edited':
        change({
          digest: text(metadata, 'digest'), inputHash: hashOfInput(opened), voters: [], initiators: [...request.initiators, actorId],
          lastEdit: { by: actorId, seq, before: request.initiators },
        });
        return this.step(opened, request, { kind: 'edit', version: 0, digest: '', input: {}, diff: null });
      case 'hitl.escalated':
        return this.escalated(request, opened, change);
      case 'hitl.timed_out':
        // A person may apply the timeout before its time.
        change({ hasRunOut: actorId === 'system', isApprovedByTime: actorId === 'system' && action === 'approve' });
        return ['approve', 'escalate'].includes(action) ? undefined : this.forget(id);
      case 'hitl.rejected':
        this.forget(id);
        return this.step(opened, request, { kind: 'reject' });
      case 'hitl.cancelled':
        return this.forget(id);
      case 'hitl.approved':
        return this.approved(request, opened, change);
      default:
        return undefined;
    }
  }

  private created(id: string, call: OpenEntry): Replayed {
    const { stored, metadata } = call;
    const [terms, basis, capability] = [termsIn(metadata), basisIn(metadata), stored.capability ?? ''];
    const { definition, expiresAt } = terms;
    const mode = text(metadata, 'hitlMode') === 'escalate' ? 'escalate' : 'propose';
    const executionId = text(metadata, 'executionId');
    const [grant, ...others] = basis ? this.grantsNamed(call, terms, basis) : [];
    const { context } = metadata;
    const people = [onBehalfOf(isJsonObject(context) ? context : undefined), text(metadata, 'taskInitiatorId')];
    const named = people.filter((name): name is string => name !== undefined && name.length <= LONGEST_NAME);
    this.requests.set(id, {
      id, executionId, capability, mode, level: levelIn(metadata) ?? 0, definition, digest: text(metadata, 'digest'),
      inputHash: hashOfInput(call), expiresAt, grant, others, isTask: metadata['taskId'] !== undefined,
      windowMs: windowOf(grant, basis, expiresAt), opened: basis, openedSeq: stored.seq,
      initiators: [stored.actorId, ...named], lastEdit: undefined, voters: [],
      taskOwnerId: text(metadata, 'taskOwnerId'),
      hasRunOut: false, isApprovedByTime: false, approval: undefined,
    });
    if (executionId !== undefined) this.waiting.set(executionId, id);
    // An adapter that asks for an approval gets a person also where the gate would let it run.
    const fits = (one: GateDecision) =>
      one.flagged === terms.isFlagged && (one.kind === 'ask' ? one.mode === mode : one.kind === 'run' && mode === 'propose');
    return this.decision(call, terms, fits, stored.actorId === stored.chain);
  }

  /** A window begins anew, as long as the first; a person's escalation goes up one level. */
  private escalated(request: RequestState, opened: OpenEntry, change: Change): Replayed | undefined {
    const { stored: { seq, actorId }, metadata } = opened;
    const [expiresAt, basis, { windowMs }] = [timeIn(metadata['expiresAt']), basisIn(metadata), request];
    change({ level: levelIn(metadata) ?? request.level, expiresAt, opened: basis ?? request.opened, openedSeq: seq });
    if (actorId !== 'system') return this.step(opened, request, { kind: 'escalate', reason: '' });
    // Only time was asked where the window has ended, or was about to.
    const begun = request.hasRunOut ? request.expiresAt : basis?.at;
    if (begun === undefined || expiresAt === undefined || windowMs === undefined) return undefined;
    return expiresAt < begun + windowMs ? wrong(notItsWindow(windowMs)) : undefined;
  }

  private approved(request: RequestState, entry: OpenEntry, change: Change): Replayed {
    const { stored, metadata } = entry;
    const levels = [deciderIn(metadata) ?? [], votersIn(metadata) ?? []].flat().map(({ level }) => level);
    change({ approval: { entryId: stored.id, level: stored.actorId === 'system' ? null : (Math.min(...levels) as EscalationLevel) } });
    return (facts, others) => {
      const { own: { now } } = this;
      const mine = grantInForce(now, request.capability, termsIn(metadata), facts);
      const theirs = others.map((link) => grantInForce(link.at, request.capability, link, facts));
      return this.known(replayApproval(this.stepOf(entry, request, { kind: 'approve' }, others), [mine, ...theirs], facts), others);
    };
  }

  private step(entry: OpenEntry, request: RequestState, command: HitlCommand): Replayed {
    return (facts, others) => this.known(replayStep(this.stepOf(entry, request, command, others), facts), others);
  }

  /** What rests on an agent whose registration was swept may be right, and is not known to be. */
  private known(result: ReplayResult, others: readonly Link[]): ReplayResult {
    const isKnown = [this.own.now, ...others.map(({ at }) => at)].every(({ agent }) => agent.isKnown);
    return isKnown || result.kind === 'wrong' ? result : notReplayable('swept');
  }

  private stepOf(entry: OpenEntry, request: RequestState, command: HitlCommand, others: readonly Link[]): RecordedStep {
    const { now } = this.own;
    const isStopped = [now, ...others.map(({ at }) => at)].some((at) => at.isStopped === true);
    return { entry, agent: now.agent, isStopped, mayHavePaused: this.own.mayHaveBeenStoppedSince(request.openedSeq), request, command };
  }

  /** The grants that a request names, the acting agent's first, as they were. */
  private grantsNamed({ stored: { organizationId, capability }, metadata }: OpenEntry, terms: RecordedTerms, basis: RecordedBasis) {
    const facts = this.shared.at(organizationId, basis, 'at best');
    const others = (delegatorsIn(metadata) ?? []).map(({ agentId, position, grantId, grantVersion }) =>
      ({ at: this.shared.agentAt(organizationId, agentId, position) ?? GONE, grantId, grantVersion }));
    return [{ ...terms, at: this.own.now }, ...others].map((link) => {
      const grant = grantInForce(link.at, capability ?? '', link, facts);
      const isNamed = grant?.facts.id === link.grantId && grant?.facts.version === link.grantVersion;
      return grant?.isUnknown || isNamed ? grant : undefined;
    });
  }

  private forget(requestId = ''): undefined {
    const executionId = this.requests.get(requestId)?.executionId;
    this.requests.delete(requestId);
    if (executionId !== undefined) this.waiting.delete(executionId);
  }
}

/** As the grant gives it, or, of one that is not known, as the request has it. */
function windowOf(grant: GrantState | undefined, basis: RecordedBasis | undefined, expiresAt: number | undefined): number | undefined {
  if (grant && !grant.isUnknown) return grant.facts.timeoutSeconds * 1_000;
  return basis && expiresAt !== undefined ? expiresAt - basis.at : undefined;
}

const underApproval = (request: RequestState): RecordedDecision['fits'] => (decision, grant) => mayRunUnder(decision, grant, request);

/** A name that is longer is nobody's, and is not kept. */
const LONGEST_NAME = 1_000;
