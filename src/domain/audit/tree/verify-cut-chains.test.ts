import { describe, expect, it } from '@jest/globals';
import { append, checkpoint, type MemoryLog } from '../../../../test/support/memory/memory-log.js';
import { rootAt } from '../../../../test/support/memory/memory-trees.js';
import { organizationChain } from '../entry/chain.js';
import { PLATFORM_TREE } from '../notes/checkpoint.js';
import type { CutPointRow } from '../integrity/log-source.js';
import { signNote, type SigningKey } from '../notes/note.js';
import { authorizationText, statementIn } from '../notes/authorization-note.js';
import { NAME, KEY, OTHER, stamp, signed, found, newest } from '../../../../test/support/memory/signed-log.js';

const FINE = { breaks: [], uncovered: 0 };

describe('a chain that retention has cut', () => {
  async function swept(
    change: {
      hash?: string; count?: number; size?: number; seq?: number; listed?: boolean; before?: string; left?: number;
      note?: (text: string) => string | null; key?: SigningKey;
    } = {},
  ): Promise<MemoryLog> {
    const log = await signed();
    const size = change.size ?? 5;
    const root = await rootAt(log.trees!, 'org_a', size);
    const { size: platformSize, root: platformRoot } = newest(log, PLATFORM_TREE);
    const cut = log.entries.find(({ chain, seq }) => chain === 'agt_1' && seq === (change.seq ?? 4))!;
    const listed = { chain: cut.chain, seq: cut.seq, hash: cut.hash, count: cut.seq };
    const below = { size, root, platformSize, platformRoot };
    const metadata = {
      sweepId: 'swp_1', before: change.before ?? '2026-11-22T00:00:00.000Z', chains: change.listed === false ? [] : [listed],
      archive: { skeleton: 's', disclosures: 'd' }, checkpoint: below,
    };
    const entry = append(log, { chain: organizationChain('org_a'), type: 'admin.audit_retention_sweep', metadata }, stamp());
    const text = authorizationText('sweep', NAME, 'org_a', statementIn(entry));
    const cutPoint: CutPointRow = {
      organizationId: 'org_a', ...listed, ...(change.hash ? { hash: change.hash } : {}), ...(change.count ? { count: change.count } : {}),
      sweepEntryId: entry.id, checkpoint: below, isDone: true,
      note: change.note ? change.note(text) : signNote(text, [change.key ?? KEY]),
    };
    log.cutPoints = [cutPoint];
    log.entries = log.entries.filter(({ chain, seq }) => chain !== 'agt_1' || seq > cut.seq - (change.left ?? 0));
    await checkpoint(log, KEY);
    return log;
  }

  it('goes on from its cut point, also alone', async () => {
    expect(await found(await swept())).toEqual(FINE);
    expect(await found(await swept(), { agentId: 'agt_1' })).toEqual(FINE);
  });

  it('cut off whole, it ends at its cut point', async () => {
    expect(await found(await swept({ seq: 8, size: 8 }))).toEqual(FINE);
  });

  it.each<[string, NonNullable<Parameters<typeof swept>[0]>]>([
    ['with another hash', { hash: '0'.repeat(64) }],
    ['of another count', { count: 3 }],
    ['beyond its checkpoint', { seq: 6, size: 5 }],
    ['that the sweep does not list', { listed: false }],
    ['of a sweep that nobody signed', { note: () => null }],
    ['of a sweep that a foreign key signed', { key: OTHER }],
    ['of a sweep of which something else was signed', { note: (text) => signNote(text.replace('/org_a/', '/org_b/'), [KEY]) }],
    ['of a sweep whose signature is no longer one', { note: (text) => signNote(text, [KEY]).replace(/.{8}\n$/, 'AAAAAAA=\n') }],
    ['of what was younger than the sweep was to take', { before: '2026-11-21T10:00:05.000Z' }],
  ])('is not believed %s', async (_name, change) => {
    const { breaks } = await found(await swept(change));
    expect(breaks).toContain('agt_1 deleted');
  });

  it('what was swept must be gone once the sweep is done, and may be there until then', async () => {
    for (const left of [1, 2, 4]) {
      const log = await swept({ left });
      expect((await found(log)).breaks).toEqual(Array.from({ length: left }, () => 'agt_1 inserted'));
      log.cutPoints = log.cutPoints!.map((cutPoint) => ({ ...cutPoint, isDone: false }));
      expect(await found(log)).toEqual(FINE);
      expect(await found(log, { agentId: 'agt_1' })).toEqual(FINE);
      log.entries = log.entries.map((one) => (one.chain === 'agt_1' && one.seq === 4 ? { ...one, disclosures: '[]' } : one));
      expect((await found(log)).breaks).toEqual(['agt_1 edited']);
      expect((await found(log, { agentId: 'agt_1' })).breaks).toEqual(['agt_1 edited']);
    }
  });
});
