import type { ReadPositions } from '../../domain/audit/catalogue/basis.js';
import type { CapabilityFacts, GrantFacts } from '../../domain/gate/decide.js';
import type { RiskLevel } from '../../domain/gate/vocabulary.js';
import type { SeparationOfDuties } from '../../domain/hitl/duties.js';
import type { Usage } from '../capabilities/grant-usage.store.js';
import type { ChosenRuntime } from '../executions/choose-runtime.js';

/** Whose facts are asked for. `key` is the scope of an idempotency key, with the organization that its record stands in. */
export interface FactsWanted {
  organizationId: string;
  agentId: string;
  capability: string;
  key?: { organizationId: string; scope: string };
  /** The agent key behind the call, where there is one. */
  agentKeyId?: string;
}

/** Whose facts are asked for inside a unit of work. */
export interface FactsWithin extends FactsWanted {
  /** The task that the action does, with the agents before this one in its chain. */
  task?: { readonly id: string; readonly chain: readonly string[] };
}

/** The task that a call does, and what is true of the other agents of its chain. */
export interface TaskFacts {
  readonly id: string;
  /** Why the call may not do it. */
  readonly refused?: string;
  /** The tasks that it is part of; empty where the call has taken it already. */
  readonly ancestors: readonly string[];
  /** The person behind it. */
  readonly initiator: string | null;
  /** The agents before this one, the first first. */
  readonly delegators: readonly { readonly agentId: string; readonly facts: Facts }[];
}

/** Everything that `decide()` looks at, with the revisions that a commit compares. */
export interface Facts {
  /** The database's clock when they were read. */
  readonly now: Date;
  /** Up to which positions the chains that record shared facts are taken into account: read in the same snapshot. */
  readonly readUpTo: ReadPositions;
  /** Revision of the agent's chain head; undefined: there is no such agent here. */
  readonly revision?: number;
  /** Position of the last entry of the agent's chain. */
  readonly position?: number;
  readonly organizationRevision: number;
  readonly openRequests: number;
  /** Tasks that the agent has and nobody has taken: without any, and where none is named, the agent is decided for alone. */
  readonly openTasks: number;
  /** Where the call does a task, or names one that it may not do. */
  readonly task?: TaskFacts;
  readonly agent?: {
    id: string;
    name: string;
    riskLevel: RiskLevel;
    status: string;
    tags: string[];
    epoch: number;
    ownerId?: string;
    teamId?: string;
    registeredBy: string;
  };
  /** The stops that are in force for this agent. */
  readonly stops: readonly { readonly id: string }[];
  readonly separationOfDuties: SeparationOfDuties;
  /** Of the agent's organization. */
  readonly tenantId: string | null;
  /** Whether what is hardcoded stops: the log is without its anchors for too long. Of this server's memory, at this moment. */
  readonly unanchored?: true;
  readonly definition?: CapabilityFacts;
  /** Which runtime has calls of the capability, by its definition and this server's configuration. */
  readonly runtime: ChosenRuntime;
  /** The agent's own, or its team's where it has none that is alive. */
  readonly grant?: GrantFacts;
  /** Of a grant with limits: what is used up of them. */
  readonly usage?: Usage;
  readonly rootKeyHash: string;
  /** Of a call with an agent key behind it: whether the agent still has the key. Its deletion raises the revision. */
  readonly hasKey?: boolean;
  /** The call that first used the idempotency key. */
  readonly kept?: { fingerprint: string; executionId: string | null };
}

export function isLimited(facts: Facts): facts is Facts & { grant: GrantFacts } {
  return facts.grant !== undefined && facts.grant.limits.length > 0;
}
