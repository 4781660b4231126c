import type { JsonObject } from '../../json.js';
import { isAgentChain } from './chain.js';
import { checkDisclosures } from './check-disclosures.js';
import { entryHash, preimage } from './entry-hash.js';
import { commitmentsOf, readPayload, type Payload } from './payload.js';
import { passesFastCheck } from './fast-check/fast-entry-check.js';
import type { StoredEntry } from './stored-entry.js';

export interface EntryFinding {
  readonly kind: 'edited' | 'column_mismatch';
  /** What is wrong, as the end of a sentence about the entry. */
  readonly what: string;
}

export interface CheckedEntry {
  readonly findings: readonly EntryFinding[];
  /** Values that were blanked: of each its digest and that of its pointer. */
  readonly blanks: readonly string[];
  /** Absent when it could not be read. */
  readonly payload?: EntryContent;
}

export type EntryContent = Pick<Payload, 'event' | 'metadata'>;

/**
 * Checks one entry by itself: its hash over its content, its columns against the hashed payload, its disclosures against their commitments.
 *
 * @param expectedPrevHash hash of the entry before it, null for the first of a chain, undefined when that entry is missing
 */
export function checkEntry(entry: StoredEntry, expectedPrevHash?: string | null): CheckedEntry {
  return passesFastCheck(entry) ? new SoundEntry(entry) : checkAtLength(entry, expectedPrevHash);
}

/** The same, but slower: everything is parsed, and what is wrong is named. */
export function checkAtLength(entry: StoredEntry, expectedPrevHash?: string | null): CheckedEntry {
  const findings: EntryFinding[] = [];
  const edited = (what: string): EntryFinding[] => [...findings, { kind: 'edited', what }];
  const payload = readPayload(entry.payload);
  const hash = checkHash(entry, expectedPrevHash);
  if (hash) findings.push(hash);
  if (typeof payload === 'string') return { findings: edited(payload), blanks: [] };

  for (const what of columnsThatDiffer(entry, payload)) findings.push({ kind: 'column_mismatch', what });
  const commitments = commitmentsOf(payload);
  if (typeof commitments === 'string') return { findings: edited(commitments), blanks: [], payload };
  const blanks = checkDisclosures(entry.disclosures, commitments);
  if (typeof blanks === 'string') return { findings: edited(blanks), blanks: [], payload };
  return { findings, blanks, payload };
}

const NONE: readonly never[] = [];

/** An entry without a finding. Its metadata is parsed for few. */
class SoundEntry implements CheckedEntry, EntryContent {
  readonly findings = NONE;
  readonly blanks = NONE;

  constructor(private readonly entry: StoredEntry) {}

  get payload(): EntryContent {
    return this;
  }

  get event(): string {
    return this.entry.event;
  }

  get metadata(): JsonObject {
    return (JSON.parse(this.entry.payload) as Payload).metadata;
  }
}

function checkHash(entry: StoredEntry, expectedPrevHash: string | null | undefined): EntryFinding | undefined {
  const agentId = isAgentChain(entry.chain) ? entry.chain : null;
  const matches = (changed: Partial<StoredEntry>) => entryHash(preimage({ ...entry, ...changed })) === entry.hash;
  const isStored = matches({});
  if (isStored && agentId === (entry.agentId ?? null)) return undefined;
  if (isStored) return { kind: 'column_mismatch', what: 'it names another agent than the chain it stands in' };
  // Two columns are hashed beside the payload; put right from the chain, they tell a changed column from changed content.
  if (matches({ agentId })) return { kind: 'column_mismatch', what: 'its column agent_id is not the one that was hashed' };
  if (expectedPrevHash !== undefined && matches({ agentId, prevHash: expectedPrevHash })) {
    return { kind: 'column_mismatch', what: 'its column prev_hash is not the one that was hashed' };
  }
  return { kind: 'edited', what: 'its hash no longer matches its content' };
}

/** Members of the payload that columns repeat. */
const COPIED = {
  id: 'id', event: 'event', actor_id: 'actorId', organization_id: 'organizationId', outcome: 'outcome', timestamp: 'timestamp',
} as const;

function columnsThatDiffer(entry: StoredEntry, payload: Payload): string[] {
  return Object.entries(COPIED)
    .filter(([, name]) => (entry[name] ?? undefined) !== payload[name])
    .map(([column]) => `its column ${column} differs from the hashed payload`);
}
