import type { Role } from '../../access/access.js';
import type { EscalationLevel } from '../../hitl/transition.js';

/** Positions in the organization's own chain and in the platform's up to which facts were read; 0 for a chain without an entry. */
export interface ReadPositions {
  readonly organization: number;
  readonly platform: number;
}

/** The basis of a decision: positions in the chains of its facts, and the instant, by the database's clock, that conditions saw. */
export interface Basis extends ReadPositions {
  /** `YYYY-MM-DDTHH:mm:ss.sssZ`. */
  readonly at: string;
}

/** Another agent of a task's chain: its grant, and the position in its chain up to which it was read. */
export interface DelegatorRecord {
  readonly agentId: string;
  readonly position: number;
  readonly grantId?: string | undefined;
  readonly grantVersion?: number | undefined;
}

/** Who decided, with the rights of that moment. Root has no account. */
export interface DeciderRecord {
  readonly role: Role | 'root';
  /** The highest level at which they may decide for the agent. */
  readonly level: EscalationLevel;
  /** Where the account stands, and the position in that organization's chain up to which it was read. */
  readonly home?: AccountHome | undefined;
}

export interface AccountHome {
  readonly organization: string;
  readonly position: number;
}

/** Somebody whose earlier vote a decision counted, with the rights of the decision's moment. */
export interface VoterRecord extends DeciderRecord {
  /** A user's id, or `root`. */
  readonly userId: string;
}

/** The members by which the entry of a decision says what it rests on. */
export interface DecisionRecord {
  readonly basis: Basis;
  /** Of a decision by a person. */
  readonly decider?: DeciderRecord | undefined;
  /** Of a decision by several: whose votes counted beside the decider's. */
  readonly voters?: readonly VoterRecord[] | undefined;
  /** Of a decision about a task: the other agents of its chain. */
  readonly delegators?: readonly DelegatorRecord[] | undefined;
}

export function basisOf({ readUpTo, now }: { readonly readUpTo: ReadPositions; readonly now: Date }): Basis {
  return { ...readUpTo, at: now.toISOString() };
}
