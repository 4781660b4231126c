import { ROLES } from '../../access/access.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import type { AccountHome, DeciderRecord, VoterRecord } from '../catalogue/basis.js';
import { isStamped } from '../entry/open-entry.js';

/** What an entry says that its decision rests on. */
export interface RecordedBasis {
  /** Position in the organization's own chain up to which shared facts were read. */
  readonly organization: number;
  /** The same in the platform's chain. */
  readonly platform: number;
  /** The instant that conditions and windows saw, in milliseconds. */
  readonly at: number;
}

/** Undefined where the entry says nothing of it, or what no server writes. */
export function basisIn({ basis }: JsonObject): RecordedBasis | undefined {
  if (!isJsonObject(basis)) return undefined;
  const { organization, platform, at } = basis;
  if (!isPosition(organization) || !isPosition(platform) || typeof at !== 'string' || !isStamped({ timestamp: at })) return undefined;
  return { organization, platform, at: Date.parse(at) };
}

/** The same of who decided. */
export function deciderIn({ decider }: JsonObject): DeciderRecord | undefined {
  return isDecider(decider) ? decider : undefined;
}

/** The same of the people whose approvals counted; empty where none are named. */
export function votersIn({ voters }: JsonObject): readonly VoterRecord[] | undefined {
  if (voters === undefined) return [];
  return Array.isArray(voters) && voters.every(isVoter) ? (voters as unknown as readonly VoterRecord[]) : undefined;
}

function isVoter(value: JsonValue): boolean {
  return isJsonObject(value) && typeof value['userId'] === 'string' && isDecider(value);
}

function isDecider(value: JsonValue | undefined): value is DeciderRecord & JsonObject {
  if (!isJsonObject(value)) return false;
  const { role, level, home } = value;
  if (level !== 0 && level !== 1 && level !== 2) return false;
  return role === 'root' ? home === undefined : (ROLES as readonly unknown[]).includes(role) && isHome(home);
}

function isHome(value: JsonValue | undefined): value is AccountHome & JsonObject {
  return isJsonObject(value) && typeof value['organization'] === 'string' && isPosition(value['position']);
}

function isPosition(value: JsonValue | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
