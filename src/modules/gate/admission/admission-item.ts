import type { Origin } from '../../../domain/audit/entry/prepare-entry.js';
import type { JsonObject } from '../../../domain/json.js';
import type { Reason } from '../../../domain/gate/decide.js';
import type { ReachedLimit } from '../../../domain/gate/limits.js';
import type { HitlMode } from '../../../domain/gate/vocabulary.js';
import type { Connector } from '../../../domain/gate/connector.js';
import type { AgentPrincipal, RootPrincipal, UserPrincipal } from '../../../platform/auth/access/principal.js';
import type { IdempotencyClaim } from '../../../platform/database/transaction/idempotency.js';
import type { ProblemCode } from '../../../domain/problems.js';
import type { FieldError } from '../../../platform/http/reply/problem.js';
import type { Runs } from '../../executions/choose-runtime.js';
import type { Deadline } from '../runtimes/deadline.js';
import type { RuntimeName } from '../runtimes/runtime.js';
import type { CallFrom } from './execute-call.js';

/** `execute`: the gate's own route. `request`: an adapter that does the action itself asks for an approval. */
export type Admission = 'execute' | 'request';

/** One call on its way through the gate: validated, canonical, and with the deadline by which it is answered. */
export interface AdmissionItem {
  readonly admission: Admission;
  /** A person asks by a dry run alone. */
  readonly principal: AgentPrincipal | RootPrincipal | UserPrincipal;
  readonly actorId: string;
  readonly organizationId: string;
  readonly agentId: string;
  /** The agent key that was shown, or for which the shown token was exchanged. */
  readonly agentKeyId?: string;
  readonly capability: string;
  readonly action?: string;
  readonly input: JsonObject;
  /** RFC 8785 text of the input: what is stored, hashed, approved and run. */
  readonly inputText: string;
  readonly context?: JsonObject;
  readonly contextText?: string;
  /** The task that its context names, where that can be one. */
  readonly taskId?: string;
  readonly dryRun: boolean;
  readonly from?: CallFrom;
  readonly claim?: IdempotencyClaim;
  readonly origin?: Origin;
  readonly traceparent?: string;
  /** By this server's clock; past it nothing is begun any more. */
  readonly deadline: Date;
}

/** An execution whose `started` is durable and whose runtime is to be called now. */
export interface StartedExecution {
  readonly organizationId: string;
  readonly agentId: string;
  readonly executionId: string;
  readonly capability: string;
  readonly action?: string;
  readonly input: JsonObject;
  readonly inputText: string;
  readonly context?: JsonObject;
  readonly connector?: Connector;
  /** Where the call names one. */
  readonly runtime?: RuntimeName;
  readonly flagged: boolean;
  readonly notify: boolean;
  readonly hitlRequestId?: string;
  readonly traceparent?: string;
  /** The caller's own limit, well before the lease ends. */
  readonly deadline: Deadline;
  /** Number of this beginning of the execution, from 1: closing counts only while no other has followed it. */
  readonly fence: number;
}

interface Decided {
  readonly effectiveMode: HitlMode;
  readonly flagged: boolean;
  readonly reasons: readonly Reason[];
}

/** A grant whose limits a call goes past. */
export interface ReachedLimits {
  readonly organizationId: string;
  readonly grantId: string;
  readonly limits: readonly ReachedLimit[];
}

/** What the gate answers for one item. */
export type AdmissionAnswer =
  | ({ readonly kind: 'executed'; readonly executionId: string; readonly auditId: string; readonly durationMs: number } & Decided)
  | ({ readonly kind: 'started'; readonly execution: StartedExecution } & Decided)
  | ({
      readonly kind: 'pending';
      readonly executionId: string;
      readonly hitlRequestId: string;
      readonly runs: Runs;
      readonly expiresAt: Date;
      readonly reached?: ReachedLimits;
    } & Decided)
  | ({
      readonly kind: 'blocked';
      readonly executionId: string;
      readonly auditId: string;
      readonly reason: string;
      readonly byLimits: boolean;
      readonly reached?: ReachedLimits;
    } & Decided)
  | ({
      readonly kind: 'dry_run';
      readonly decision: string;
      readonly runs?: Runs;
      readonly byLimits?: boolean;
      readonly reached?: ReachedLimits;
    } & Omit<Decided, 'effectiveMode'> & Partial<Decided>)
  | { readonly kind: 'refused'; readonly code: ProblemCode; readonly detail: string; readonly errors?: readonly FieldError[] }
  | { readonly kind: 'replay'; readonly executionId: string };
