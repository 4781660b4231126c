import { openNote, type OpenedNote, type VerifierKey } from './note.js';
import { readHash } from '../tree/rfc6962.js';

// Checkpoints as https://c2sp.org/tlog-checkpoint has them: the text of a signed note.

/** The root of a tree of so many leaves, in base64. */
export interface TreeHead {
  readonly size: number;
  readonly root: string;
}

export interface Checkpoint extends TreeHead {
  readonly origin: string;
}

export interface StoredCheckpoint extends TreeHead {
  /** Or `platform`, for the platform's own tree. */
  readonly organizationId: string;
  readonly note: string;
  /** Size of the platform's tree in which it stands; its own for the platform's. */
  readonly platformSize: number;
  /** ISO 8601, UTC, with milliseconds. */
  readonly madeAt: string;
}

/** Stands for the platform's tree where others have their organization's id. */
export const PLATFORM_TREE = 'platform';

/** First line of a checkpoint: which tree of which installation it is of. */
export function originOf(instance: string, tree: string): string {
  return `${instance}/${tree}`;
}

export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${root}\n`;
}

/**
 * The origin of a statement that has the form of a checkpoint and is none: readers of checkpoints can read it, and as it has one part more
 * than the origin of a tree, and no organization's id has a slash, neither passes for the other.
 */
export function statementOrigin(instance: string, tree: string, about: string): string {
  return originOf(instance, `${tree}/${about}`);
}

/** Reads a checkpoint's text strictly: three lines, one spelling of each value. Extension lines, which nobody would see, are refused. */
export function readCheckpoint(text: string): Checkpoint | undefined {
  const [origin, sizeText, root, end, ...more] = text.split('\n');
  if (!origin || sizeText === undefined || root === undefined || end !== '' || more.length > 0) return undefined;
  const size = Number(sizeText);
  if (!/^(0|[1-9]\d*)$/.test(sizeText) || !Number.isSafeInteger(size) || !readHash(root)) return undefined;
  return { origin, size, root };
}

/** A note that turned out to be a checkpoint, or why it does not count, as the end of a sentence about it. */
export type OpenedCheckpoint =
  | { readonly checkpoint: Checkpoint; readonly by: readonly VerifierKey[] }
  | { readonly wrong: string };

/** Opens a note and reads the checkpoint in it; it must be of the tree that it is shown for. */
export function openCheckpoint(note: string, known: readonly VerifierKey[], origin: string): OpenedCheckpoint {
  const opened = openNote(note, known);
  if (opened.kind !== 'open') return { wrong: whyNotOpen(opened) };
  const checkpoint = readCheckpoint(opened.text);
  if (!checkpoint) return { wrong: 'is not the text of a checkpoint' };
  if (checkpoint.origin !== origin) return { wrong: `is of ${checkpoint.origin}, not of ${origin}` };
  return { checkpoint, by: opened.by };
}

function whyNotOpen(note: Exclude<OpenedNote, { kind: 'open' }>): string {
  switch (note.kind) {
    case 'unsigned':
      return 'has no signature';
    case 'unknown':
      return 'is signed by no key that is known';
    case 'forged':
      return `has a wrong signature of ${note.by.name}`;
    case 'malformed':
      return `is no signed note: ${note.detail}`;
  }
}
