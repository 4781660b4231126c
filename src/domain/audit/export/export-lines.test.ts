import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { MemoryLog } from '../../../../test/support/memory/memory-log.js';
import { readCheckpoint } from '../notes/checkpoint.js';
import { entryLine, entryOf, line, lineText, manifestText, readLine, skeletonLine, type ExportLine } from './export-lines.js';
import { verifierKey } from '../notes/note.js';
import { hashText, leafHash } from '../tree/rfc6962.js';

const file = readFileSync(new URL('../../../../test/vectors/audit-log.json', import.meta.url), 'utf8');
const [entry] = (JSON.parse(file) as MemoryLog).entries as [MemoryLog['entries'][0]];
const root = hashText(leafHash('a root'));
const hash = 'ab'.repeat(32);
const place = { organizationId: 'org_1', chain: 'agt_1', seq: 3 };
const madeAt = '2026-11-22T05:00:00.000Z';

const LINES: ExportLine[] = [
  line('export', {
    v: 1, what: 'log', instance: 'countersign-1', organizations: ['org_1'], from: null, madeAt,
    keys: [verifierKey('countersign-1', Buffer.alloc(32, 1).toString('base64'))],
  }),
  line('checkpoint', { note: 'text\n\n— signature\n' }),
  line('map', {
    organizationId: 'org_1', size: 4, root, siblings: [[0, root], [255, root]], timestamp: madeAt,
    platform: { index: 1, size: 2, hashes: [root] },
  }),
  line('section', { organizationId: 'org_1', size: 4, chains: 2 }),
  entryLine(entry, 0),
  skeletonLine(entry, null),
  line('gap', { from: 0, to: 4, because: 'swept', nodes: [root] }),
  line('head', { ...place, hash: null, closed: false }),
  line('seam', { ...place, hash, count: 3, sweepEntryId: 'audit_1', sweepIndex: 9, checkpoint: { size: 7, root } }),
  line('consistency', { organizationId: 'platform', from: 1, to: 2, hashes: [root] }),
  line('inclusion', { index: 0, size: 1, hashes: [] }),
  line('profile', { profile: { name: 'Ä' } }),
  line('records', { records: { keys: 2 } }),
  line('disclosures', { id: 'audit_1', hash, text: '[]' }),
  line('manifest', { counts: { lines: 4, entries: 1, chains: 1, withheld: 0 }, sha256: hash, note: 'n\n' }),
];
const OPTIONAL = new Set(['export from', 'entry disclosures']);

describe('the lines of an export', () => {
  it.each(LINES.map((one) => [one.kind, one] as const))('writes and reads back one of kind %s', (_kind, one) => {
    const text = lineText(one);
    expect(text.endsWith('}\n')).toBe(true);
    expect(readLine(text.slice(0, -1))).toEqual(one);
  });

  it('takes exactly the members of a kind, each in its form', () => {
    for (const one of LINES) {
      const { kind, ...members } = one;
      const read = (changed: object) => readLine(lineText({ kind, ...changed } as ExportLine).slice(0, -1));
      expect(read({ ...members, zusatz: 1 })).toBe(`a line of kind ${kind} has no member zusatz`);
      for (const [name, value] of Object.entries(members)) {
        const { [name]: _gone, ...rest } = members as Record<string, unknown>;
        if (OPTIONAL.has(`${kind} ${name}`)) expect(typeof read(rest)).toBe('object');
        else expect(read(rest)).toBe(`the line of kind ${kind} lacks ${name}`);
        const wrong = typeof value === 'object' && value !== null ? [1, 'text', [null]] : [-1, 0.5, {}, [], true, 'no'];
        for (const other of wrong.filter((one) => !sameForm(kind, one, value))) {
          const wanted = `the line of kind ${kind} has a wrong ${name}`;
          expect([name, other, read({ ...members, [name]: other })]).toEqual([name, other, wanted]);
        }
      }
    }
  });

  it('refuses what is not one canonical object of a known kind', () => {
    const good = lineText(LINES[3]!).slice(0, -1);
    for (const text of ['', '[]', 'null', '{"kind":"section"', good.replace(',', ', '), `${good}\n`, '{"size":1,"kind":"section"}']) {
      expect([text, readLine(text)]).toEqual([text, 'the line is not an object in canonical JSON']);
    }
    for (const text of ['{}', '{"kind":"toString"}', '{"kind":7}']) expect(readLine(text)).toBe('the line is of no known kind');
    expect(readLine(good.replace('"chains":2', '"chains":9007199254740992'))).toBe('the line of kind section has a wrong chains');
    const inner = lineText(LINES[2]!).slice(0, -1).replace('"hashes"', '"extra":0,"hashes"');
    expect(readLine(inner)).toBe('the line of kind map has a wrong platform');
  });

  it('holds an entry as it is stored, with its values or without them', () => {
    expect(entryOf(entryLine(entry, 5))).toEqual(entry);
    expect(entryOf(skeletonLine(entry, 5), entry.disclosures)).toEqual(entry);
    expect(lineText(skeletonLine(entry, 5))).not.toContain('disclosures');
  });

  it('signs its counts and bytes in a text that is no checkpoint', () => {
    const text = manifestText({ instance: 'countersign-1', entries: 3, sha256: hash, madeAt });
    expect(text).toBe(`countersign-1/export\n3\n${Buffer.from(hash, 'hex').toString('base64')}\n${madeAt}\n`);
    expect(readCheckpoint(text)).toBeUndefined();
  });
});

/** What is stored is shown as it is stored, right or wrong: there a text stands for a text. */
const STORED = new Set(['entry', 'head', 'disclosures']);

/** Whether a value could stand in the other's place. */
function sameForm(kind: string, a: unknown, b: unknown): boolean {
  const isStrict = typeof b === 'string' && !STORED.has(kind) && (/^[0-9a-f]{64}$/.test(b) || b.startsWith('2026-'));
  if (typeof a === 'string') return (typeof b === 'string' && !isStrict) || b === null;
  return typeof a === typeof b && typeof a === 'boolean';
}
