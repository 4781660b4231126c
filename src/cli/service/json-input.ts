import { readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject } from '../../domain/json.js';
import { UsageError } from '../command-output.js';
import { parseStrictJson } from '../../platform/http/request/strict-json.js';

const STANDARD_INPUT = 0;

/** Where a command finds a JSON object: on the line, or in a file. */
export interface InputOptions {
  readonly input?: string;
  readonly inputFile?: string;
}

/**
 * Read as the service reads bodies, so that what `JSON.parse` changes without a word (a member that is given twice, a number that is too
 * large) is refused here, with its place.
 *
 * @returns undefined where neither option is given
 */
export function inputOf({ input, inputFile }: InputOptions): JsonObject | undefined {
  if (input !== undefined) return parsed('--input', Buffer.from(input));
  return inputFile === undefined ? undefined : parsed('--input-file', bytesIn(inputFile));
}

function parsed(option: string, bytes: Buffer): JsonObject {
  const read = parseStrictJson(bytes);
  if (!read.ok) throw new UsageError(`${option}: ${read.pointer === '' ? 'it' : read.pointer} ${read.message}`);
  if (!isJsonObject(read.value)) throw new UsageError(`${option} must be a JSON object`);
  return read.value;
}

function bytesIn(file: string): Buffer {
  try {
    return readFileSync(file === '-' ? STANDARD_INPUT : file);
  } catch (error) {
    throw new UsageError(`--input-file cannot be read (${(error as NodeJS.ErrnoException).code}): ${file}`);
  }
}
