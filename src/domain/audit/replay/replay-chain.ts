import { BLOCKED, type GateDecision } from '../../gate/decide.js';
import { onBehalfOf } from '../../hitl/on-behalf-of.js';
import { HIGHEST_LEVEL } from '../../hitl/transition.js';
import { isJsonObject, type JsonObject } from '../../json.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import { type AgentState, agentAfter, NEW_AGENT, UNKNOWN_AGENT } from './state/agent-state.js';
import { type ReplayedApproval, replayApproval, levelsOf, type RequestState } from './replay-approval.js';
import { hashOfInput, satisfies, whyNotApproved, windowOf } from './replay-request.js';
import { type GrantState, grantOf } from './state/grant-state.js';
import { number, type OpenEntry, text, timeIn } from '../entry/open-entry.js';
import { around, type Moment } from './superseded/overlap.js';
import { grantsAt, possiblyHeld } from './superseded/possible-worlds.js';
import { type ReplayedCall, replayDecision, type RecordedDecision } from './replay-decision.js';
import type { SharedFacts } from './state/shared-facts.js';
import type { SharedView } from './superseded/shared-view.js';
import { notReplayable, type ReplayResult, RIGHT, UNKNOWN, type Unknown, wrong } from './replay-result.js';

/** Decides again when asked, also with more room for the order of commits. */
export type Replayed = (shared: SharedView, moment?: Moment) => ReplayResult;

/** What began under an approval and is still running. */
interface Running {
  readonly request: RequestState;
  readonly asked: ReplayedCall;
}

/** Of an entry at a position, by its stamp. */
export type MomentOf = (seq: number, at: number) => Moment;

/** Follows the entries of one agent's chain, and decides anew what each of them decided. */
export class ReplayedChain {
  private agent: AgentState;
  /** What was told of each: a grant, or that there is none any more. */
  private readonly grants = new Map<string, GrantState | undefined>();
  private readonly revoked = new Set<string>();
  /** What was granted, and which stops began, before the first entry that is left is not known. */
  private isCut: boolean;
  private readonly stops = new Set<string>();
  /** Where in the chain a stop of the agent's own was last in force. */
  private stoppedSeq = 0;
  private readonly requests = new Map<string, RequestState>();
  private readonly waiting = new Map<string, string>();
  private readonly running = new Map<string, Running>();

  /** @param momentOf between which times an entry of it was committed, where its stamp alone does not say */
  constructor(
    private readonly first: StoredEntry,
    private readonly facts: SharedFacts,
    private readonly momentOf?: MomentOf,
  ) {
    this.isCut = first.seq > 1 && first.event !== 'agent.transferred';
    const arrives = first.event === 'agent.transferred';
    this.agent = arrives ? facts.arrivingAt(first.chain, first.seq) : this.isCut ? UNKNOWN_AGENT : NEW_AGENT;
  }

  /** @returns what it decided, to be decided again; nothing where it tells of no decision */
  entry(opened: OpenEntry): Replayed | undefined {
    const { stored, metadata } = opened;
    switch (stored.event) {
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
      case 'capability.granted':
      case 'capability.config_updated': {
        const grant = grantOf(opened);
        if (grant) this.grants.set(grant.capability, grant);
        return undefined;
      }
      case 'capability.revoked': {
        const id = text(metadata, 'grantId') ?? '';
        this.revoked.add(id);
        if (this.grants.get(stored.capability ?? '')?.facts.id === id) this.grants.set(stored.capability ?? '', undefined);
        return undefined;
      }
      case 'admin.stop_started':
        this.stops.add(text(metadata, 'stopId') ?? '');
        return undefined;
      case 'admin.stop_ended':
        this.stops.delete(text(metadata, 'stopId') ?? '');
        this.stoppedSeq = stored.seq;
        return undefined;
      case 'agent.transferred':
        return this.transferred(opened);
      default:
        if (stored.event.startsWith('hitl.')) return this.request(opened);
        this.agent = agentAfter(this.agent, opened);
        return undefined;
    }
  }

  private transferred(opened: OpenEntry): undefined {
    const { stored, metadata } = opened;
    if (metadata['direction'] !== 'in') this.agent = agentAfter(this.agent, opened);
    else {
      // Back where it was before: what it is now, it became elsewhere. No grant goes along, and no agent under a stop.
      this.agent = this.facts.arrivingAt(stored.chain, stored.seq);
      this.isCut = false;
      this.grants.clear();
      this.stops.clear();
    }
  }

  private started(opened: OpenEntry): Replayed {
    const { metadata } = opened;
    const asked = this.asked(opened);
    const executionId = text(metadata, 'executionId') ?? '';
    const requestId = text(metadata, 'hitlId') ?? this.waiting.get(executionId);
    const isFlagged = metadata['flagged'] === true;
    if (requestId === undefined && metadata['decisionId'] === undefined) {
      const said = { ...saidBy(metadata), fits: (one: GateDecision) => one.kind === 'run' && one.flagged === isFlagged };
      return (shared, moment) => replayDecision(asked, said, shared, moment);
    }
    const request = this.requests.get(requestId ?? '');
    const problem = whyNotApproved(request, opened, executionId);
    this.forget(requestId);
    if (problem !== undefined) return () => wrong(problem);
    this.running.set(executionId, { request: request!, asked });
    const isUnread = request!.inputHash === undefined || hashOfInput(opened) === undefined;
    if (!isUnread && request!.inputHash !== hashOfInput(opened)) return () => wrong(`what began is not what ${requestId} asked for`);
    return (shared, moment) => {
      const said = { ...saidBy(metadata), fits: (one: GateDecision) => satisfies(one, request!, shared) };
      const verdict = replayDecision({ ...asked, byToken: false }, said, shared, moment);
      return isUnread && verdict.kind === 'right' ? notReplayable('erased') : verdict;
    };
  }

  /** The gate was asked again, of the same call. */
  private retried({ stored, metadata, at }: OpenEntry): Replayed {
    const running = this.running.get(text(metadata, 'executionId') ?? '');
    if (!running) return () => wrong(`${text(metadata, 'executionId')} was begun again and was not running`);
    const { request, asked: before } = running;
    const asked = { ...before, ...this.standing(stored.capability ?? ''), at, byToken: false };
    return (shared, moment) =>
      replayDecision(asked, { ...saidBy(metadata), fits: (one: GateDecision) => satisfies(one, request, shared) }, shared, moment);
  }

  private blocked(opened: OpenEntry): Replayed {
    const { metadata } = opened;
    const asked = this.asked(opened);
    const reason = text(metadata, 'reason');
    const fits = (one: GateDecision) =>
      one.kind === 'refuse' ? one.code === reason : one.kind === 'block' && (reason === BLOCKED || reason === 'CAPABILITY_BLOCKED');
    return (shared, moment) => replayDecision({ ...asked, byToken: false }, { fits }, shared, moment);
  }

  private request(opened: OpenEntry): Replayed | undefined {
    const { stored, metadata, at } = opened;
    const id = text(metadata, 'hitlId') ?? '';
    if (stored.event === 'hitl.created') return this.created(id, opened);
    const request = this.requests.get(id);
    if (!request) return stored.event === 'hitl.approved' ? () => wrong(`${id} was approved and nobody had asked`) : undefined;
    const change = (changed: Partial<RequestState>) => void this.requests.set(id, { ...request, isTimedOut: false, ...changed });
    switch (stored.event) {
      case 'hitl.voted':
        return change({ voters: [...request.voters, stored.actorId] });
      case 'hitl.edited':
        return change({
          digest: text(metadata, 'digest'), inputHash: hashOfInput(opened), voters: [], editors: [...request.editors, stored.actorId],
          lastEdit: { by: stored.actorId, seq: stored.seq, before: request.editors },
        });
      case 'hitl.escalated':
        return this.escalated(request, opened, change);
      case 'hitl.timed_out':
        if (text(metadata, 'action') === 'approve') return change({ isTimedOut: stored.actorId === 'system' });
        return text(metadata, 'action') === 'escalate' ? undefined : this.forget(id);
      case 'hitl.rejected':
      case 'hitl.cancelled':
        return this.forget(id);
      case 'hitl.approved':
        return this.approved(request, opened, at, change);
      default:
        return undefined;
    }
  }

  private created(id: string, opened: OpenEntry): Replayed {
    const { stored, metadata, at } = opened;
    const asked = this.asked(opened);
    const mode = text(metadata, 'hitlMode') ?? '';
    const executionId = text(metadata, 'executionId');
    const expiresAt = timeIn(metadata['expiresAt']);
    const grant = this.grantNamed(asked, text(metadata, 'grantId'), number(metadata, 'grantVersion'));
    this.requests.set(id, {
      id, executionId, capability: asked.capability, mode, level: number(metadata, 'level') ?? 0, definition: text(metadata, 'definition'),
      digest: text(metadata, 'digest'), inputHash: hashOfInput(opened), askedAt: at, askedSeq: stored.seq,
      expiresAt, windowMs: windowOf(grant, expiresAt, at), grant,
      onBehalfOf: nameIn(onBehalfOf(asked.context)), editors: [], lastEdit: undefined, voters: [], isTimedOut: false, approval: undefined,
    });
    if (executionId !== undefined) this.waiting.set(executionId, id);
    // An adapter that asks for an approval gets a person also where the gate would let it run.
    const isFlagged = metadata['flagged'] === true;
    const said = {
      ...saidBy(metadata), expiresAt,
      fits: (one: GateDecision) =>
        one.flagged === isFlagged && (one.kind === 'ask' ? one.mode === mode : one.kind === 'run' && mode === 'propose'),
    };
    return (shared, moment) => replayDecision(asked, said, shared, moment);
  }

  /** A window begins anew, as long as the first. */
  private escalated(
    { level, windowMs }: RequestState, { metadata, at }: OpenEntry, change: (to: Partial<RequestState>) => void,
  ): Replayed | undefined {
    const expiresAt = timeIn(metadata['expiresAt']);
    change({ level: number(metadata, 'level') ?? level, expiresAt });
    if (expiresAt === undefined || windowMs === undefined) return undefined;
    const begun = expiresAt - windowMs;
    return (_, { from, to } = around(at)) =>
      (begun >= from && begun <= to ? RIGHT : wrong(`its window is not the ${Math.round(windowMs / 1_000)} s that it was asked with`));
  }

  private approved(
    request: RequestState, { stored, metadata }: OpenEntry, at: number, change: (to: Partial<RequestState>) => void,
  ): Replayed {
    const { organizationId, actorId, seq } = stored;
    const { agent } = this;
    const gate = { ...this.standing(request.capability), organizationId, agentId: stored.chain, capability: request.capability, at,
      input: {}, context: undefined, erased: { input: undefined, context: undefined }, byToken: false };
    const asked: Omit<ReplayedApproval, 'grants'> = {
      organizationId, actorId, at, seq, digest: text(metadata, 'digest'), breakGlass: metadata['breakGlass'] === true, request, agent,
      wasStopped: this.stoppedSeq > request.askedSeq,
    };
    const committed = this.momentOf?.(seq, at) ?? around(at);
    const atHighest = (shared: SharedView) => Math.max(...levelsOf(actorId, asked, shared, committed)) >= HIGHEST_LEVEL;
    change({ approval: { entryId: stored.id, atHighest } });
    if (request.approval) return () => wrong(`${request.id} was approved a second time`);
    return (shared, moment = around(at)) => {
      // One that is unknown asks for nothing more.
      const grants = grantsAt(gate, shared, moment).filter((grant) => !grant?.isUnknown);
      const verdict = replayApproval({ ...asked, grants }, shared, moment);
      return agent.isKnown || verdict.kind === 'wrong' ? verdict : notReplayable('swept');
    };
  }

  /** What is true of the agent, whatever is called. */
  private standing(capability: string): Pick<ReplayedCall, 'agent' | 'own' | 'revoked' | 'isStopped'> {
    const { agent, grants, revoked, stops } = this;
    const unknown: Unknown | undefined = this.isCut ? UNKNOWN : undefined;
    const own = grants.has(capability) ? grants.get(capability) : unknown;
    return { agent, own, revoked, isStopped: stops.size > 0 || (unknown ?? false) };
  }

  private asked({ stored, metadata, at, erased }: OpenEntry): ReplayedCall {
    const { input, context } = metadata;
    const capability = stored.capability ?? '';
    return {
      ...this.standing(capability),
      organizationId: this.first.organizationId, agentId: this.first.chain, capability, at,
      input: isJsonObject(input) ? input : {}, context: isJsonObject(context) ? context : undefined,
      erased: { input: erased.get('input'), context: erased.get('context') }, byToken: stored.actorId === this.first.chain,
    };
  }

  private grantNamed(asked: ReplayedCall, id: string | undefined, version: number | undefined): GrantState | undefined {
    const held = possiblyHeld(asked, this.facts.read('as told'), around(asked.at));
    return held.find(({ grant }) => grant?.facts.id === id && grant?.facts.version === version)?.grant;
  }

  private forget(requestId: string | undefined): undefined {
    const executionId = this.requests.get(requestId ?? '')?.executionId;
    this.requests.delete(requestId ?? '');
    if (executionId !== undefined) this.waiting.delete(executionId);
    return undefined;
  }
}

/** Longer than anybody is called: it names nobody, and is not kept. */
const LONGEST_NAME = 1_000;

function nameIn(text: string | undefined): string | undefined {
  return text === undefined || text.length > LONGEST_NAME ? undefined : text;
}

function saidBy(metadata: JsonObject): Omit<RecordedDecision, 'fits'> {
  return {
    grantId: text(metadata, 'grantId'), grantVersion: number(metadata, 'grantVersion'), definition: text(metadata, 'definition'),
  };
}
