import type { JsonValue } from '../../json.js';
import type { Basis, DeciderRecord, DelegatorRecord, VoterRecord } from './basis.js';
import { capabilityEvent, event, flag, members, optional, plain, value } from './event-definition.js';

/** Why the gate decided as it did: the rule's code and a sentence for people. */
export type ReasonRecord = { readonly rule: string; readonly detail?: string | undefined };

/** What went wrong: a code of ours and a sentence that may quote what a runtime said. */
export type ErrorRecord = { readonly code: string; readonly message: string };

/** The known members of `context` that may name a user, in both spellings. */
const context = members<JsonValue>({ subjectKeys: ['on_behalf_of', 'onBehalfOf'] });
const input = members<JsonValue>();
const reasons = value<readonly ReasonRecord[]>();
const error = value<ErrorRecord>();

/** What the decision rests on: see basis.ts. */
const basis = optional(plain<Basis>());
/** Of a person's decision: who decided, and of one of several whose votes counted beside. Roles, positions and ids of ours alone. */
const decider = optional(plain<DeciderRecord>());
const voters = optional(plain<readonly VoterRecord[]>());

/** Of a task's call: the task, and the other agents of its chain, by whose grants too the gate has decided. */
const delegators = optional(plain<readonly DelegatorRecord[]>());
const ofTask = { taskId: optional(plain<string>()), delegators };

/** The grant by which the action may run. */
const underGrant = { grantId: optional(plain<string>()), grantVersion: optional(plain<number>()) };
const inExecution = { executionId: plain<string>(), hitlId: optional(plain<string>()), flagged: flag() };

export const EXECUTION_EVENTS = {
  'execution.started': capabilityEvent('agent', 'The gate let an action begin. Written before the runtime is called.', {
    ...inExecution, ...underGrant,
    /** Digest of the capability's definition. */
    definition: plain<string>(),
    input, context: optional(context), action: optional(value<string>()),
    reasons,
    /** Id of the entry of the decision under which it runs. */
    decisionId: optional(plain<string>()),
    ...ofTask,
    runtime: optional(plain<string>()), basis,
  }, null),
  'execution.retried': capabilityEvent('agent',
    'A crash cut the call off, and its runtime is declared idempotent: it is called again with the same key. Written before that.', {
    ...inExecution,
    /** Which beginning this is; the first was `execution.started`. */
    attempt: plain<number>(),
    ...underGrant, delegators, basis,
  }, null),
  'execution.completed': capabilityEvent('agent',
    'The action ran and its runtime said so. The output summary is the first 1,000 characters of the canonical output.',
    { ...inExecution, outputSummary: optional(value<string>()), durationMs: optional(plain<number>()) }, 'executed'),
  'execution.failed': capabilityEvent('agent',
    'The gate allowed the action and its runtime failed, or nobody can tell what became of it (outcome `indeterminate`).', {
    ...inExecution, error, outcome: optional(plain<'indeterminate'>()),
    outputSummary: optional(value<string>()), durationMs: optional(plain<number>()),
  }, 'failure'),
  'execution.blocked': capabilityEvent('agent',
    'The gate refused an action: by policy, or because the grant, the agent or a stop no longer allowed it.', {
    /** Plain: a code of the interface, or where policy blocks its one sentence, `capability blocked by policy`; never anybody's words. */
    reason: plain<string>(),
    executionId: optional(plain<string>()), reasons: optional(reasons),
    input: optional(input), context: optional(context), action: optional(value<string>()), flagged: flag(),
    ...ofTask, basis,
  }, 'blocked'),
  'execution.cancelled': capabilityEvent('agent', 'An approved action did not begin, because it no longer might.', {
    ...inExecution,
    /** Plain: a code (stopped, approval_mismatch, agent_removed, erased …). */
    reason: plain<string>(),
    reasons: optional(reasons), basis,
  }),
  'execution.reported': capabilityEvent('agent_or_organization',
    'The agent told what came of an action that it did itself, or an answer came in late: the execution was closed, or begun again.', {
    executionId: plain<string>(), outcome: plain<'success' | 'failure'>(),
    output: optional(members<JsonValue>()), error: optional(value<JsonValue>()),
    durationMs: optional(plain<number>()), late: flag(), flagged: flag(),
  }),
  'execution.settled': capabilityEvent('agent_or_organization', 'A person found out what became of an indeterminate execution.',
    { executionId: plain<string>(), outcome: plain<'success' | 'failure'>(), note: value<string>(), flagged: flag() }),
};

/** `flagged`: as the agent was at that moment. */
const inRequest = { hitlId: plain<string>(), flagged: flag() };
const comment = optional(value<string>());

export const HITL_EVENTS = {
  'hitl.created': capabilityEvent('agent', 'A person is asked: the action, its mode and how long there is to decide.', {
    ...inRequest, capability: plain<string>(), input, hitlMode: plain<string>(), expiresAt: plain<string>(),
    /** Digest of the action, over a nonce that is erased with the input. */
    digest: plain<string>(),
    executionId: optional(plain<string>()), ...underGrant,
    /** Digest of the capability's definition. */
    definition: optional(plain<string>()),
    level: optional(plain<number>()), context: optional(context),
    action: optional(value<string>()), reasons: optional(reasons), ...ofTask,
    /** Who owns the first agent of the task's chain, and may decide at level 0. */
    taskOwnerId: optional(plain<string>({ subject: true })),
    /** The person behind the task, who may not decide about it. */
    taskInitiatorId: optional(plain<string>({ subject: true })),
    basis,
  }),
  'hitl.approved': capabilityEvent('agent', 'The request was approved; the actor is who decided.', {
    ...inRequest, comment,
    /** Digest of the approved version, over its nonce. */
    digest: optional(plain<string>()),
    breakGlass: flag(), basis, decider, voters, delegators,
  }),
  'hitl.rejected': capabilityEvent('agent', 'The request was rejected; the actor is who decided.', {
    ...inRequest, comment, breakGlass: flag(), basis, decider, delegators,
  }),
  'hitl.escalated': capabilityEvent('agent', 'The request moved to a higher level.', {
    ...inRequest, reason: value<string>(), escalatedTo: optional(plain<string>({ subject: true })),
    level: plain<number>(),
    /** Of the window that begins anew. */
    expiresAt: optional(plain<string>()),
    basis, decider, delegators,
  }),
  'hitl.timed_out': capabilityEvent('agent', 'Nobody decided in time; the action that was applied.', {
    ...inRequest, action: plain<string>(),
  }),
  'hitl.cancelled': capabilityEvent('agent', 'The request ended before a decision.', {
    ...inRequest,
    /** Plain: a code (asked, agent_removed, agent_transferred, erased). */
    reason: plain<string>(),
    comment, basis, delegators,
  }),
  'hitl.voted': capabilityEvent('agent', 'One approval of several that the grant asks for.', {
    ...inRequest, comment, approvals: plain<number>(), needed: plain<number>(), basis, decider, voters,
    delegators,
  }),
  'hitl.edited': capabilityEvent('agent', 'The action was changed; a new version with a new digest stands for decision.', {
    ...inRequest, version: plain<number>(), digest: plain<string>(), input, diff: value<JsonValue>(), basis,
    decider, delegators,
  }),
  'hitl.reminded': capabilityEvent('agent', 'People were reminded that the request is still open.', {
    ...inRequest, secondsBefore: plain<number>(),
  }),
};

export const TASK_EVENTS = {
  'task.delegated': event('agent', 'A task was given to this agent.', {
    taskId: plain<string>(), parentId: optional(plain<string>()),
    /** The tasks that it is part of, the first one first. */
    ancestors: optional(plain<readonly string[]>()),
    capability: plain<string>(), input,
    description: optional(value<string>()), fromAgentId: optional(plain<string>()),
    /** The agents along the delegation, first to last. */
    chain: plain<readonly string[]>(),
    /** The person behind it. */
    initiatorId: optional(plain<string>({ subject: true })),
    /** Id of the routing decision. */
    decisionId: optional(plain<string>()),
  }),
  'task.ended': event('agent_or_organization', 'A task is done, has failed or was cancelled.', {
    taskId: plain<string>(), status: plain<'done' | 'failed' | 'cancelled'>(),
    /** Plain: a code. */
    reason: optional(plain<string>()),
    executionId: optional(plain<string>()),
  }),
};

export const LLM_EVENTS = {
  'llm.request': event('agent', 'A call to a language model through the gateway: counts only, never the text.', {
    executionId: optional(plain<string>()), model: value<string>(), provider: plain<string>(),
    promptTokens: optional(plain<number>()), completionTokens: optional(plain<number>()),
    durationMs: optional(plain<number>()),
    /** Digest of what went out, over the nonce of the execution's input. */
    digest: optional(plain<string>()),
    scanSkipped: flag(), piiDetected: flag(), piiRedacted: flag(),
    /** Images, sounds, files, and what is not known to be text: no scan reads them. */
    unscanned: optional(plain<number>()),
    /** What the answer itself held, by type. */
    answerCounts: optional(plain<Readonly<Record<string, number>>>()),
    /** The caller or the server broke it off: the provider had not counted yet, so the tokens are an estimate. */
    brokenOff: flag(),
  }),
  'llm.pii_detected': event('agent', 'Personal data was found in a call: how many of each type, never the values.', {
    executionId: optional(plain<string>()), model: value<string>(),
    counts: plain<Readonly<Record<string, number>>>(),
    /** Plain: a code (redacted, masked, tokenized, blocked). */
    action: plain<string>(),
  }),
  'llm.provider_error': event('agent', 'The provider failed or did not answer in time.', {
    executionId: optional(plain<string>()), model: value<string>(), provider: plain<string>(),
    status: optional(plain<number>()), error, durationMs: optional(plain<number>()),
  }, 'failure'),
};
