import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { isJsonObject, type JsonValue } from '../domain/json.js';

/** Beside no server: whoever verifies keeps it. */
export function defaultRemembered(): string {
  return join(homedir(), '.countersign', 'checkpoints.json');
}

/**
 * Notes of the newest checkpoints that were found good before, of every installation.
 *
 * @throws Error when the file is there and cannot be read: to go on would forget what it was to be compared with
 */
export function readRemembered(file: string): string[] {
  return Object.values(rememberedIn(file));
}

/** Keeps checkpoints by their origin, in place of older ones. */
export function remember(file: string, notes: readonly string[]): void {
  const known = rememberedIn(file);
  for (const note of notes) known[note.slice(0, note.indexOf('\n'))] = note;
  mkdirSync(dirname(file), { recursive: true });
  const written = `${file}.${process.pid}.part`;
  writeFileSync(written, `${JSON.stringify(known, null, 2)}\n`, { mode: 0o600 });
  renameSync(written, file);
}

function rememberedIn(file: string): Record<string, string> {
  if (!existsSync(file)) return {};
  const kept = JSON.parse(readFileSync(file, 'utf8')) as JsonValue;
  if (!isJsonObject(kept) || !Object.values(kept).every((note) => typeof note === 'string')) {
    throw new Error(`${file} holds no checkpoints`);
  }
  return { ...kept } as Record<string, string>;
}
