import { expect } from '@jest/globals';
import { verify, type Result } from '../../../verifier/verify.mjs';
import { exportSourceOf, type MemoryFacts } from '../memory/memory-export.js';
import { checkpoint } from '../memory/memory-log.js';
import { INSTANCE, MADE_AT, SIGNER } from './export-maker.js';
import type { VerifierScenario } from './verifier-scenario.js';
import { ORGANIZATIONS } from './verifier-scenario.js';
import { readLine, type ExportLine } from '../../../src/domain/audit/export/export-lines.js';
import { signingKey } from '../../../src/domain/audit/notes/note.js';
import type { ExportSource } from '../../../src/domain/audit/export/export-source.js';
import { logLines, type ExportSelection } from '../../../src/domain/audit/export/log-lines.js';
import type { Tally } from '../../../src/domain/audit/export/person-lines.js';
import type { PersonalDataPart } from '../../../src/domain/audit/export/record-lines.js';
import { sealed, type ExportFormat } from '../../../src/domain/audit/export/sealed-export.js';

export const KEY = signingKey(INSTANCE, Buffer.alloc(32, 7).toString('base64'));
export const FACTS: MemoryFacts = { keys: [{ key: SIGNER.vkey }] };
export const ALL: ExportSelection = { organizations: ORGANIZATIONS, all: true };

export async function textOf(lines: AsyncIterable<ExportLine>, format: ExportFormat = 'jsonl', tally?: Tally): Promise<string> {
  const parts: string[] = [];
  for await (const part of sealed(lines, KEY, format, tally)) parts.push(part);
  return parts.join('');
}

/** What modules hold of a person. */
export async function* recordsOf(...parts: readonly PersonalDataPart[]): AsyncGenerator<PersonalDataPart> {
  for (const part of parts) yield await Promise.resolve(part);
}

export const linesOf = (text: string) => text.trimEnd().split('\n');
export const judged = (text: string, remembered: readonly string[] = []) => verify(linesOf(text), { keys: [SIGNER.vkey], remembered });
export const kindsOf = (text: string, kind: string) =>
  linesOf(text).map(readLine).filter((one) => typeof one === 'object' && one.kind === kind);

export async function exported(source: ExportSource, selection: ExportSelection = ALL): Promise<{ text: string; result: Result }> {
  const text = await textOf(logLines(source, selection, MADE_AT));
  for (const line of linesOf(text)) expect([line, typeof readLine(line)]).toEqual([line, 'object']);
  return { text, result: await judged(text) };
}

export async function signed(made: VerifierScenario): Promise<ExportSource> {
  await checkpoint(made.log, KEY);
  return exportSourceOf(made.log, KEY, { ...FACTS, notes: made.notes });
}

export function sound(result: Result, verdict: Result['verdict'] = 'valid'): void {
  expect(result.breaks).toEqual([]);
  expect(result.verdict).toBe(verdict);
}

/** What is found in a file. */
export async function foundIn(text: string, remembered: readonly string[] = []): Promise<string[]> {
  return (await judged(text, remembered)).breaks.map(({ kind, chain }) => `${kind} ${chain}`).sort();
}
