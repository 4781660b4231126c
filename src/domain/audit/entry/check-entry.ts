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
  /** Values that were blanked: of each its digest and that of its place. */
  readonly blanks: readonly string[];
  /** Absent when it could not be read. */
  readonly payload?: SaidOfEntry;
}

/** What an entry is about, for those who follow the log. */
export type SaidOfEntry = Pick<Payload, 'event' | 'metadata'>;

/**
 * Everything that can be said of one entry by itself: its hash over its content, its columns against the hashed payload,
 * its disclosures against their commitments.
 *
 * @param expectedPrevHash hash of the entry before it, null for the first of a chain, undefined when that entry is missing
 */
export function checkEntry(entry: StoredEntry, expectedPrevHash?: string | null): CheckedEntry {
  return passesFastCheck(entry) ? new SoundEntry(entry) : checkAtLength(entry, expectedPrevHash);
}

/** The same, by the long way: everything is parsed, and what is wrong is told. */
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

/** Nothing is wrong with it. What it says is parsed for those who ask, which are few. */
class SoundEntry implements CheckedEntry, SaidOfEntry {
  readonly findings = NONE;
  readonly blanks = NONE;

  constructor(private readonly entry: StoredEntry) {}

  get payload(): SaidOfEntry {
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
  const agentId = isAgentChain(entry.chain) ? entry.chain : undefined;
  const capability = entry.capability ?? undefined;
  const matches = (agent: string | undefined, prevHash: string | undefined) =>
    entryHash(preimage({ agentId: agent, capability, payload: entry.payload, prevHash })) === entry.hash;

  const stored = matches(entry.agentId ?? undefined, entry.prevHash ?? undefined);
  if (stored && agentId === (entry.agentId ?? undefined)) return undefined;
  if (stored) return { kind: 'column_mismatch', what: 'it names another agent than the chain it stands in' };
  // Two columns are hashed beside the payload; put right from the chain, they tell a changed column from changed content.
  if (matches(agentId, entry.prevHash ?? undefined)) {
    return { kind: 'column_mismatch', what: 'its column agent_id is not the one that was hashed' };
  }
  if (expectedPrevHash !== undefined && matches(agentId, expectedPrevHash ?? undefined)) {
    return { kind: 'column_mismatch', what: 'its column prev_hash is not the one that was hashed' };
  }
  return { kind: 'edited', what: 'its hash no longer matches its content' };
}

function columnsThatDiffer(entry: StoredEntry, payload: Payload): string[] {
  const copies: [string, string | null, string | undefined][] = [
    ['id', entry.id, payload.id],
    ['event', entry.event, payload.event],
    ['actor_id', entry.actorId, payload.actorId],
    ['organization_id', entry.organizationId, payload.organizationId],
    ['outcome', entry.outcome, payload.outcome],
    ['timestamp', entry.timestamp, payload.timestamp],
  ];
  return copies
    .filter(([, column, hashed]) => (column ?? undefined) !== hashed)
    .map(([name]) => `its column ${name} differs from the hashed payload`);
}
