import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { append, type MemoryLog } from '../../../../test/support/memory/memory-log.js';
import { newId } from '../../ids.js';
import type { AuditEvent } from '../catalogue/audit-events.js';
import { agentChain } from '../entry/chain.js';
import type { RecordRow } from './record-row.js';
import { Completeness, openRecord } from './completeness.js';
import { RecordGaps } from './record-gaps.js';
import { RecordHashes } from './record-hashes.js';

const KEY = Buffer.alloc(16, 7);
const ORGANIZATION = 'org_a';
const AGENT = newId('agt');
const BEGIN = Date.parse('2026-05-01T12:00:00.000Z');

describe('sums of what is said', () => {
  const said = fc.array(fc.tuple(fc.nat(50), fc.constantFrom('running', 'executed')));

  it('are even exactly where both sides hold the same, in whatever order', () => {
    fc.assert(fc.property(said, said, fc.boolean(), (some, others, isSame) => {
      const sums = new RecordHashes(KEY);
      for (const [n, status] of some) sums.add(`exec_${n}`, `${n} ${status}`);
      const rows = isSame ? [...some].reverse() : others;
      for (const [n, status] of rows) sums.subtract(`exec_${n}`, `${n} ${status}`);
      const recorded = (list: readonly unknown[]) => list.map((one) => JSON.stringify(one)).sort();
      expect(sums.unequal().size === 0).toBe(JSON.stringify(recorded(some)) === JSON.stringify(recorded(rows)));
    }));
  });

  it('do not cancel out where one is recorded twice', () => {
    const sums = new RecordHashes(KEY);
    sums.add('exec_1', 'executed');
    sums.add('exec_1', 'executed');
    expect(sums.unequal().size).toBe(1);
  });
});

/** Executions that began and ended, one every second, and the rows of them. */
function logOf(count: number): { log: MemoryLog; rows: RecordRow[] } {
  const log: MemoryLog = { entries: [], heads: [], leaves: [] };
  const rows: RecordRow[] = [];
  const record = (second: number, event: AuditEvent) => append(log, { ...event, chain: agentChain(ORGANIZATION, AGENT), agentId: AGENT },
    { id: newId('audit', BEGIN + second * 1_000), actorId: AGENT, timestamp: new Date(BEGIN + second * 1_000) });
  for (let i = 0; i < count; i++) {
    const executionId = newId('exec', BEGIN + i * 1_000);
    const terms = { grantId: 'grt_1', grantVersion: 1, definition: 'd' };
    record(i, { type: 'execution.started', capability: 'web.search', metadata: { executionId, ...terms, input: {}, reasons: [] } });
    const { id: entryId } = record(i, { type: 'execution.completed', capability: 'web.search', metadata: { executionId } });
    const members = {
      ...terms, hitlId: null, reason: null, entryId, reported: null, settled: null, settledBy: null, requestedBy: AGENT, flagged: false,
      mode: 'unasked',
    };
    rows.push({ organizationId: ORGANIZATION, id: executionId, agentId: AGENT, capability: 'web.search', status: 'executed', members });
  }
  return { log, rows };
}

async function compared({ log, rows }: ReturnType<typeof logOf>, sweptAt?: number) {
  const sweeps = { sweptAt: () => sweptAt, hasSwept: () => sweptAt !== undefined };
  const completeness = new Completeness(KEY, sweeps, new RecordGaps(KEY), false);
  for (const entry of log.entries) completeness.entry(entry, openRecord(entry));
  const found = await completeness.end({
    rows: async function* () { yield { kind: 'execution', rows }; },
    entries: async function* () { yield log.entries; },
  });
  return { ...found, breaks: found.breaks.map(({ detail }) => detail) };
}

describe('rows and entries', () => {
  it('agree', async () => {
    expect(await compared(logOf(100))).toEqual({ checked: 100, swept: 0, breaks: [], breaksFound: 0 });
  });

  it('each that differs is named, and no other', async () => {
    const { log, rows } = logOf(100);
    const gone = rows.splice(10, 1)[0]!;
    const changed = rows[20] = { ...rows[20]!, status: 'failed' };
    const extra = { ...rows[30]!, id: newId('exec') };
    const { breaks } = await compared({ log, rows: [...rows, extra] });
    expect(breaks).toContain(`execution ${changed.id} has status failed, its entries say executed`);
    expect(breaks).toContain(`execution ${extra.id} has status executed, and no entry records it`);
    expect(breaks).toContain(`execution ${gone.id} is gone: entry 22 of chain ${AGENT} records it (executed), and no row shows it`);
    expect(breaks.length).toBe(3);
  });

  it('one that begins twice, and one that ends twice', async () => {
    const twice = logOf(3);
    const [begun, ended] = twice.log.entries;
    twice.log.entries.splice(1, 0, { ...begun!, seq: 9, id: newId('audit') });
    twice.log.entries.push({ ...ended!, seq: 10, id: newId('audit') });
    expect((await compared(twice)).breaks).toEqual([
      expect.stringMatching(/^entry 9 .* begins execution exec_\w+ a second time$/),
      expect.stringMatching(/^entry 10 .* closes execution exec_\w+, which was not running$/),
    ]);
  });

  it('rows whose entries were swept are no breaks; those behind the cut still are', async () => {
    const { log, rows } = logOf(100);
    const kept = log.entries.filter(({ seq }) => seq > 100);
    const swept = await compared({ log: { ...log, entries: kept }, rows }, BEGIN + 200_000);
    expect(swept).toEqual({ checked: 50, swept: 50, breaks: [], breaksFound: 0 });
    const without = await compared({ log: { ...log, entries: kept }, rows: rows.filter((_, i) => i !== 51 && i !== 90) }, BEGIN + 200_000);
    expect(without.breaksFound).toBe(2);
    const gone = await compared({ log: { ...log, entries: [] }, rows }, BEGIN + 200_000);
    expect(gone).toEqual({ checked: 0, swept: 100, breaks: [], breaksFound: 0 });
  });

  it('without a sweep the same rows lack their entries', async () => {
    const { log, rows } = logOf(100);
    expect((await compared({ log: { ...log, entries: log.entries.filter(({ seq }) => seq > 100) }, rows })).breaksFound).toBe(50);
  });
});
