import { isJsonObject, type JsonObject, parseJson } from '../../json.js';
import type { StoredCheckpoint } from '../notes/checkpoint.js';
import { disclosuresText, type Disclosure } from '../entry/commitments.js';
import { keyMembers, line, skeletonLine, type ExportLine } from './export-lines.js';
import { commitmentsOf, readPayload } from '../entry/payload.js';
import { isText } from '../integrity/row-decoding.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import type { ExportSource, PersonsEntry } from './export-source.js';
import { checkpointLines, erasureLines, inclusionLine, mapLine } from './log-lines.js';
import { type PersonalDataPart, recordLines } from './record-lines.js';

/** The person of a copy. */
export interface PersonSelection {
  readonly userId: string;
  /** Where they have left entries. */
  readonly organizations: readonly string[];
  readonly profile: JsonObject;
  /** The records of modules; read while the file is made. */
  readonly records: AsyncIterable<PersonalDataPart>;
}

/** Counts what an export leaves out, for its manifest. */
export interface Tally {
  withheld: number;
}

/** Members of an entry in the words of its actor. */
const OWN_WORDS: readonly string[] = ['/metadata/comment', '/metadata/note', '/metadata/reason'];

/** An export of one person, every line but the manifest: the entries by or about them, with proofs, and their own values. */
export async function* personLines(
  source: ExportSource, selection: PersonSelection, madeAt: string, tally: Tally,
): AsyncGenerator<ExportLine> {
  const { userId, organizations, profile, records } = selection;
  const { instance } = source;
  yield line('export', { v: 1, what: 'person', instance, organizations, madeAt, userId, ...keyMembers(await source.keys()) });
  const checkpoints = yield* checkpointLines(source, organizations);
  for (const id of organizations) yield* sectionLines(source, id, userId, checkpoints.get(id), tally);
  yield line('profile', { profile });
  yield* recordLines(records);
}

async function* sectionLines(
  source: ExportSource, id: string, userId: string, checkpoint: StoredCheckpoint | undefined, tally: Tally,
): AsyncGenerator<ExportLine> {
  const size = checkpoint?.size ?? 0;
  const shown = async function* (entry: StoredEntry, index: number | null, { pointers }: PersonsEntry): AsyncGenerator<ExportLine> {
    yield* erasureLines(source, entry);
    yield ownParts(entry, index, pointers, userId, tally);
  };
  yield* mapLine(source, id);
  yield line('section', { organizationId: id, size, chains: 0 });
  const behind: PersonsEntry[] = [];
  for await (const batch of source.about(id, userId)) {
    const entries = await source.entries(id, batch);
    for (const [n, found] of entries.entries()) {
      if (!found) continue;
      const index = await source.indexOf(found);
      if (index === undefined || index >= size) {
        behind.push(batch[n]!);
        continue;
      }
      yield* shown(found, index, batch[n]!);
      yield* inclusionLine(source, id, index, size);
    }
  }
  for (const position of behind) {
    const [entry] = await source.entries(id, [position]);
    if (entry) yield* shown(entry, null, position);
  }
}

/** The entry with the person's own values. Not even the pointer of another value stays: a key may be a name. */
function ownParts(
  entry: StoredEntry, index: number | null, pointers: readonly string[], userId: string, tally: Tally,
): ExportLine {
  const own = entry.actorId === userId ? [...pointers, ...OWN_WORDS] : pointers;
  const kept = disclosuresIn(entry.disclosures).filter(
    ({ pointer }) => own.some((one) => pointer === one || pointer.startsWith(`${one}/`)),
  );
  tally.withheld += countCommitments(entry.payload) - kept.length;
  return { ...skeletonLine(entry, index), disclosures: disclosuresText(kept) };
}

/** None where they cannot be read. */
function disclosuresIn(text: string): Disclosure[] {
  try {
    const parsed: unknown = parseJson(text);
    return Array.isArray(parsed) ? (parsed as unknown[]).filter(isDisclosure) : [];
  } catch {
    return [];
  }
}

/** One that has its value, and can be written as it stands. */
function isDisclosure(one: unknown): one is Disclosure {
  return isJsonObject(one) && [one['d'], one['pointer'], one['salt'], one['value']].every(isText);
}

function countCommitments(payload: string): number {
  const read = readPayload(payload);
  const commitments = typeof read === 'string' ? read : commitmentsOf(read);
  return typeof commitments === 'string' ? 0 : commitments.reduce((sum, { digests }) => sum + digests.length, 0);
}
