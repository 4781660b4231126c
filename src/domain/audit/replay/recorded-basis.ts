import { ROLES } from '../../access/access.js';
import type { EscalationLevel } from '../../hitl/transition.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import type { DeciderRecord, DelegatorRecord, ReadPositions, VoterRecord } from '../catalogue/basis.js';
import { isStamped } from '../entry/open-entry.js';
import { isCount } from '../integrity/row-decoding.js';

/** The basis of a decision, as its entry has it. */
export interface RecordedBasis extends ReadPositions {
  /** The instant that conditions and windows saw, in milliseconds. */
  readonly at: number;
}

// Each reads a member of an entry's metadata, and gives undefined for a value that no server writes.

export function basisIn({ basis }: JsonObject): RecordedBasis | undefined {
  if (!isJsonObject(basis)) return undefined;
  const { organization, platform, at } = basis;
  if (!isCount(organization) || !isCount(platform) || typeof at !== 'string' || !isStamped({ timestamp: at })) return undefined;
  return { organization, platform, at: Date.parse(at) };
}

export function deciderIn({ decider }: JsonObject): DeciderRecord | undefined {
  return isDecider(decider) ? decider : undefined;
}

/** The people whose approvals counted; empty where none are named. */
export function votersIn({ voters = [] }: JsonObject): readonly VoterRecord[] | undefined {
  const isVoter = (one: JsonValue) => isJsonObject(one) && typeof one['userId'] === 'string' && isDecider(one);
  return Array.isArray(voters) && voters.every(isVoter) ? (voters as unknown as readonly VoterRecord[]) : undefined;
}

/** The other agents of a task's chain; empty where none are named. */
export function delegatorsIn({ delegators = [] }: JsonObject): readonly DelegatorRecord[] | undefined {
  const isOptional = (value: JsonValue | undefined, type: string) => value === undefined || typeof value === type;
  const isDelegator = (one: JsonValue) => isJsonObject(one) && typeof one['agentId'] === 'string' && isCount(one['position']) &&
    isOptional(one['grantId'], 'string') && isOptional(one['grantVersion'], 'number');
  return Array.isArray(delegators) && delegators.every(isDelegator) ? (delegators as unknown as readonly DelegatorRecord[]) : undefined;
}

export function levelIn({ level }: JsonObject): EscalationLevel | undefined {
  return level === 0 || level === 1 || level === 2 ? level : undefined;
}

function isDecider(value: JsonValue | undefined): value is DeciderRecord & JsonObject {
  if (!isJsonObject(value) || levelIn(value) === undefined) return false;
  const { role, home } = value;
  if (role === 'root') return home === undefined;
  return (ROLES as readonly unknown[]).includes(role) && isJsonObject(home) && typeof home['organization'] === 'string' &&
    isCount(home['position']);
}
