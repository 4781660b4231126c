import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { isJsonObject, type JsonValue, parseJson } from '../../domain/json.js';

/** Beside no server: whoever verifies keeps it. */
export function defaultRemembered(): string {
  return join(homedir(), '.countersign', 'checkpoints.json');
}

/**
 * Notes of checkpoints from earlier verifications, of every installation.
 *
 * @throws Error when the file is there and cannot be read: to go on would forget what it was to be compared with
 */
export function readRemembered(file: string): string[] {
  return Object.values(rememberedIn(file));
}

/** Keeps checkpoints by their origin, instead of older ones. */
export function remember(file: string, notes: readonly string[]): void {
  const known = rememberedIn(file);
  for (const note of notes) known[originIn(note)] = note;
  orSay(file, 'cannot be written', () => {
    const written = partOf(file);
    writeFileSync(written, `${JSON.stringify(known, null, 2)}
`, { mode: 0o600 });
    renameSync(written, file);
  });
}

/**
 * Makes the folder, and looks whether it takes a file.
 *
 * @throws Error when nothing could be kept there
 */
export function prepareToRemember(file: string): void {
  orSay(file, 'cannot be written', () => {
    makeFolders(dirname(file));
    writeFileSync(partOf(file), '', { mode: 0o600 });
    rmSync(partOf(file));
  });
}

function partOf(file: string): string {
  return `${file}.${process.pid}.part`;
}

/** One after the other: made at once, Node.js tries for ever where a file system takes no folders, such as /proc. */
function makeFolders(folder: string): void {
  if (existsSync(folder)) return;
  if (dirname(folder) !== folder) makeFolders(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function orSay<Result>(file: string, what: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new Error(`--remember ${file} ${what} (${(error as Error).message}): ${ANOTHER}`, { cause: error });
  }
}

const ANOTHER = 'give another file, or --no-remember to compare with nothing';

function originIn(note: string): string {
  return note.slice(0, note.indexOf('\n'));
}

function rememberedIn(file: string): Record<string, string> {
  if (!existsSync(file)) return {};
  const text = orSay(file, 'cannot be read', () => readFileSync(file, 'utf8'));
  const kept = parsed(text);
  if (!isJsonObject(kept) || !Object.values(kept).every((one) => typeof one === 'string')) {
    throw new Error(`--remember ${file} holds no checkpoints that an earlier verification has kept: ${ANOTHER}`);
  }
  return { ...kept } as Record<string, string>;
}

/** Null for what is no JSON: the parser's own message would repeat a piece of a file that may be somebody's secret. */
function parsed(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}
