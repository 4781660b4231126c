import { describe, expect, it } from '@jest/globals';
import { append, type MemoryLog } from '../../../../test/support/memory/memory-log.js';
import { newId } from '../../ids.js';
import type { JsonObject } from '../../json.js';
import { agentChain } from '../entry/chain.js';
import { prepareEntry, type RecordedEvent } from '../entry/prepare-entry.js';
import { SubjectIndexCheck, type SubjectRow } from './subject-index-check.js';

const KEY = Buffer.alloc(16, 3);
const ORGANIZATION = 'org_a';
const AGENT = newId('agt');
const JO = newId('usr');

/** Agents' calls, some of them for a person, and decisions of that person; with the rows that appending would make. */
function logOf(count: number): { log: MemoryLog; rows: SubjectRow[] } {
  const log: MemoryLog = { entries: [], heads: [], leaves: [] };
  const rows: SubjectRow[] = [];
  const record = (event: RecordedEvent, actorId: string) => {
    const stamp = { id: newId('audit'), actorId, timestamp: new Date(), origin: { via: 'rest', address: '192.0.2.1' } as const };
    const { subjects } = prepareEntry(event, stamp);
    const { id: entryId, chain, seq, event: type, capability, outcome, timestamp } = append(log, event, stamp);
    rows.push(...subjects.map(({ userId, pointer }) =>
      ({ organizationId: ORGANIZATION, userId, entryId, pointer, chain, seq, event: type, capability, outcome, timestamp })));
  };
  const there = { chain: agentChain(ORGANIZATION, AGENT), agentId: AGENT };
  for (let i = 0; i < count; i++) {
    const context: JsonObject = i % 2 === 0 ? { on_behalf_of: JO, case: i } : { case: i };
    record({ ...there, type: 'execution.started', capability: 'web.search',
      metadata: { executionId: `exec_${i}`, definition: 'd', input: {}, reasons: [], context } }, AGENT);
    record({ ...there, type: 'hitl.approved', capability: 'web.search', metadata: { hitlId: `hitl_${i}`, comment: 'fine' } }, JO);
  }
  return { log, rows };
}

async function compared({ log, rows }: ReturnType<typeof logOf>, sweptAt?: number) {
  const people = new SubjectIndexCheck(KEY, { sweptAt: () => sweptAt, hasSwept: () => sweptAt !== undefined });
  for (const entry of log.entries) people.entry(entry);
  const { breaks } = await people.end({
    subjects: async function* () { yield rows; }, entries: async function* () { yield log.entries; },
  });
  return breaks.map(({ kind, position, detail }) => [kind, position, detail]);
}

const blankedContext = (disclosures: string, key: string) => JSON.stringify((JSON.parse(disclosures) as { d: string; pointer: string }[])
  .map((one) => (one.pointer === `/metadata/context/${key}` ? { d: one.d, pointer: one.pointer, erased: true } : one)));

describe('the table of whom entries concern', () => {
  it('holds what entries say', async () => {
    const { log, rows } = logOf(50);
    expect(rows.length).toBe(75);
    expect(await compared({ log, rows: rows.reverse() })).toEqual([]);
  });

  it('each row that is gone, added or changed is named, with its chain and position', async () => {
    const { log, rows } = logOf(50);
    const [gone] = rows.splice(9, 1);
    const changed = rows[20]!;
    rows[20] = { ...changed, pointer: '/metadata/x' };
    const extra = { ...rows[30]!, userId: newId('usr') };
    const found = await compared({ log, rows: [...rows, extra] });
    expect(found).toHaveLength(4);
    expect(found).toContainEqual(['column_mismatch', gone!.seq, expect.stringContaining('and audit_subjects does not say so')]);
    expect(found).toContainEqual(['column_mismatch', changed.seq, expect.stringContaining(`at ${changed.pointer}`)]);
    expect(found).toContainEqual(['column_mismatch', changed.seq, expect.stringContaining('at /metadata/x, which does not say so there')]);
    expect(found).toContainEqual(['column_mismatch', extra.seq, expect.stringContaining(`names ${extra.userId}`)]);
  });

  it('of an entry whose value was erased nobody can tell whom it named there, and what else it says still counts', async () => {
    const { log, rows } = logOf(4);
    const entries = log.entries.map((one, i) => (i === 0 ? { ...one, disclosures: blankedContext(one.disclosures, 'on_behalf_of') } : one));
    expect(await compared({ log: { ...log, entries }, rows })).toEqual([]);
    expect(await compared({ log: { ...log, entries }, rows: rows.slice(1) })).toEqual([]);
    const beside = log.entries.map((one, i) => (i === 0 ? { ...one, disclosures: blankedContext(one.disclosures, 'case') } : one));
    expect(await compared({ log: { ...log, entries: beside }, rows: rows.slice(1) })).toHaveLength(1);
  });

  it('rows of entries that a sweep took may stay or go; all others count', async () => {
    const { log, rows } = logOf(50);
    const kept = { ...log, entries: log.entries.filter(({ seq }) => seq > 60) };
    expect(await compared({ log: kept, rows }, Date.now())).toEqual([]);
    expect(await compared({ log: kept, rows: rows.filter(({ seq }) => seq > 60) }, Date.now())).toEqual([]);
    expect(await compared({ log: kept, rows: rows.filter(({ seq }) => seq > 62) }, Date.now())).toHaveLength(2);
    expect(await compared({ log: { ...log, entries: [] }, rows }, Date.now())).toEqual([]);
    expect(await compared({ log: kept, rows })).toHaveLength(rows.filter(({ seq }) => seq <= 60).length);
  });
});
