import { describe, expect, it } from '@jest/globals';
import { append, type MemoryLog } from '../../../../test/support/memory/memory-log.js';
import { newId } from '../../ids.js';
import type { JsonObject } from '../../json.js';
import { agentChain } from '../entry/chain.js';
import type { AuditEvent } from '../catalogue/audit-events.js';
import { jcs } from '../entry/jcs.js';
import { outputSummary } from '../entry/output-summary.js';
import type { RecordRow, ShownTexts } from './record-row.js';
import { Completeness, openRecord } from './completeness.js';
import { RecordGaps } from './record-gaps.js';

const KEY = Buffer.alloc(16, 7);
const ORGANIZATION = 'org_a';
const AGENT = newId('agt');
const NO_SWEEPS = { sweptAt: () => undefined, hasSwept: () => false };

const TO_JO: JsonObject = { to: 'jo', sum: 5 };
const MARKED: JsonObject = { to: '[erased]', sum: 5, rows: Array.from({ length: 200 }, (_, n) => `row ${n}`) };
const LONG_OUTPUT: JsonObject = { found: 'x'.repeat(2_000), last: '[erased]' };

/** Executions of this input and output, and what their rows show instead of that. */
function logOf(count: number, input: JsonObject, output: JsonObject, shown: Partial<ShownTexts> = {}) {
  const log: MemoryLog = { entries: [], heads: [], leaves: [] };
  const rows: RecordRow[] = [];
  const by = { chain: agentChain(ORGANIZATION, AGENT), agentId: AGENT };
  const record = (event: AuditEvent) =>
    append(log, { ...event, ...by }, { id: newId('audit'), actorId: AGENT, timestamp: new Date() });
  for (let i = 0; i < count; i++) {
    const executionId = newId('exec');
    const terms = { grantId: 'grt_1', grantVersion: 1, definition: 'd' };
    record({ type: 'execution.started', capability: 'web.search', metadata: { executionId, ...terms, input, reasons: [] } });
    const { id: entryId } = record({
      type: 'execution.completed', capability: 'web.search', metadata: { executionId, outputSummary: outputSummary(jcs(output)) },
    });
    rows.push({
      organizationId: ORGANIZATION, id: executionId, agentId: AGENT, capability: 'web.search', status: 'executed',
      members: {
        ...terms, hitlId: null, reason: null, entryId, reported: null, settled: null, settledBy: null, requestedBy: AGENT, flagged: false,
        mode: 'unasked',
      },
      texts: {
        own: {
          input: jcs(input), output: jcs(output), context: null, action: null, reasons: '[]', error: null, diff: null, editor: null,
          ...shown,
        } as ShownTexts,
      },
    });
  }
  return { log, rows };
}

async function compared({ log, rows }: ReturnType<typeof logOf>) {
  const gaps = new RecordGaps(KEY);
  for (const { organizationId, id, texts } of rows) gaps.add({ kind: 'execution', organizationId, id, isBlank: false, shown: texts!.own });
  const completeness = new Completeness(KEY, NO_SWEEPS, gaps, false);
  for (const entry of log.entries) completeness.entry(entry, openRecord(entry));
  let isReadAgain = false;
  const { breaks } = await completeness.end({
    rows: async function* () { yield { kind: 'execution', rows }; },
    entries: async function* () {
      isReadAgain = true;
      yield log.entries;
    },
  });
  return { kept: completeness.keptFacts, isReadAgain, breaks: breaks.map(({ detail }) => detail.replace(/exec_\w+/, 'exec')) };
}

describe('a mark that somebody wrote', () => {
  it.each([
    ['in an input', MARKED, {}], ['in an output', {}, MARKED], ['in an output behind what its entry has', {}, LONG_OUTPUT],
    ['in both', MARKED, LONG_OUTPUT],
  ])('%s costs nothing: it is summed up like any text', async (_, input, output) => {
    expect(await compared(logOf(50, input, output))).toEqual({ kept: 0, isReadAgain: false, breaks: [] });
  });

  it.each<[string, JsonObject, JsonObject, Partial<ShownTexts>, string]>([
    ['another value beside it', MARKED, {}, { input: jcs({ ...MARKED, sum: 6 }) }, 'input'],
    ['another output without it', {}, LONG_OUTPUT, { output: jcs({ found: 'y'.repeat(2_000) }) }, 'output'],
    ['something else in its place', MARKED, {}, { input: jcs({ ...MARKED, to: 'jo' }) }, 'input'],
    ['something else in another text', MARKED, {}, { error: '{}' }, 'error'],
  ])('hides nothing: %s', async (_, input, output, shown, name) => {
    const { breaks } = await compared(logOf(2, input, output, shown));
    expect(breaks).toEqual(Array(2).fill(`execution exec has another ${name} than its entries say`));
  });
});

describe('a mark that erasing has left in a row', () => {
  it('is kept of that text alone, and agrees', async () => {
    const story = logOf(3, TO_JO, LONG_OUTPUT, { input: '{"sum":5,"to":"[erased]"}' });
    expect(await compared(story)).toEqual({ kept: 3, isReadAgain: false, breaks: [] });
  });

  it.each<[string, Partial<ShownTexts>, string]>([
    ['beside it', { input: '{"sum":6,"to":"[erased]"}' }, 'input'],
    ['in another text', { input: '{"sum":5,"to":"[erased]"}', output: jcs({ found: 'y' }) }, 'output'],
    ['in a text without it', { input: '{"sum":5,"to":"[erased]"}', reasons: '["x"]' }, 'reasons'],
  ])('hides nothing %s', async (_, shown, name) => {
    const { breaks } = await compared(logOf(1, TO_JO, LONG_OUTPUT, shown));
    expect(breaks).toEqual([`execution exec has another ${name} than its entries say`]);
  });
});
