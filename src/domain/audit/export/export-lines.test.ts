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

describe('the lines of an export', () => {
  it.each(LINES.map((one) => [one.kind, one] as const))('writes and reads back one of kind %s', (_kind, one) => {
    const text = lineText(one);
    expect(text.endsWith('}\n')).toBe(true);
    expect(readLine(text.slice(0, -1))).toEqual(one);
  });

  it('reads only one canonical object with a kind', () => {
    const good = lineText(LINES[3]!).slice(0, -1);
    for (const text of ['', '[]', 'null', '{}', '{"kind":7}', '{"kind":"section"', good.replace(',', ', '), `${good}
`, '{"size":1,"kind":"section"}']) {
      expect([text, readLine(text)]).toEqual([text, undefined]);
    }
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
