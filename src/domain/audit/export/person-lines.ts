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

/** Whose copy it is. */
export interface PersonSelection {
  readonly userId: string;
  /** Where they have left entries. */
  readonly organizations: readonly string[];
  readonly profile: JsonObject;
  /** What modules hold of them besides; read while the file is made. */
  readonly records: AsyncIterable<PersonalDataPart>;
}

/** Counts what an export leaves out, for its manifest. */
export interface Tally {
  withheld: number;
}

/** What somebody writes into an entry in their own words, about what they did. */
const OWN_WORDS: readonly string[] = ['/metadata/comment', '/metadata/note', '/metadata/reason'];

/**
 * What the log holds of one person, every line but the manifest: the entries that they made or that are about them, each proven
 * by itself. Of the committed values only theirs stand in it, the others are left out and counted.
 */
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
      yield* erasureLines(source, found);
      yield theirs(found, index, batch[n]!.pointers, userId, tally);
      yield* inclusionLine(source, id, index, size);
    }
  }
  for (const place of behind) {
    const [entry] = await source.entries(id, [place]);
    if (!entry) continue;
    yield* erasureLines(source, entry);
    yield theirs(entry, null, place.pointers, userId, tally);
  }
}

/** The entry with what is theirs of its values. Not even the pointer of another value stays: a key may be a name. */
function theirs(
  entry: StoredEntry, index: number | null, pointers: readonly string[], userId: string, tally: Tally,
): ExportLine {
  const own = entry.actorId === userId ? [...pointers, ...OWN_WORDS] : pointers;
  const kept = disclosuresIn(entry.disclosures).filter(
    ({ pointer }) => own.some((one) => pointer === one || pointer.startsWith(`${one}/`)),
  );
  tally.withheld += countCommitments(entry.payload) - kept.length;
  return { ...skeletonLine(entry, index), disclosures: disclosuresText(kept) };
}

/** None where they cannot be read: nobody can say then whose they are. */
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
