import { describe, expect, it } from '@jest/globals';
import { append, checkpoint, sourceOf, type MemoryLog } from '../../../../test/support/memory/memory-log.js';
import { rootAt } from '../../../../test/support/memory/memory-trees.js';
import { agentChain, organizationChain, platformChain } from '../entry/chain.js';
import { PLATFORM_TREE, type StoredCheckpoint } from '../notes/checkpoint.js';
import type { Stamp } from '../entry/prepare-entry.js';
import type { CutPointRow } from '../integrity/log-source.js';
import { signingKey, signNote, verifierKey, type SigningKey } from '../notes/note.js';
import { authorizationText, statementIn } from '../notes/authorization-note.js';
import { verifyLog, type VerifyOptions } from '../integrity/verify-log.js';

const NAME = 'countersign-test';
const seed = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const KEY = signingKey(NAME, seed(1));
const OTHER = signingKey(NAME, seed(2));
const keyText = (byte: number) => verifierKey(NAME, seed(byte));

let made = 0;
const stamp = (time = 1_795_000_000_000 + made): Stamp =>
  ({ id: `audit_${++made}`, actorId: 'usr_ada', timestamp: new Date(time), origin: { via: 'rest', requestId: 'request-1' } });

function write(log: MemoryLog, count: number, organization = 'org_a', agentId = 'agt_1', time?: number): void {
  for (let n = 0; n < count; n++) {
    const input = { to: 'ada@example.org', amount: n };
    append(log, {
      chain: agentChain(organization, agentId), agentId, type: 'execution.started', capability: 'email.send',
      metadata: { executionId: `exec_${n}`, definition: 'd', input, reasons: [] },
    }, stamp(time));
  }
}

/** A signed log of three organizations. */
async function signed(): Promise<MemoryLog> {
  const log: MemoryLog = { entries: [], heads: [], leaves: [], instance: NAME, keys: [{ key: keyText(1), fromSize: 0 }] };
  append(log, { chain: platformChain(), type: 'admin.signing_key_rotated', metadata: { keyId: keyText(1) } }, stamp());
  write(log, 5);
  await checkpoint(log, KEY);
  write(log, 4, 'org_b', 'agt_2');
  write(log, 3);
  await checkpoint(log, KEY);
  return log;
}

const found = async (log: MemoryLog, options: VerifyOptions = {}) => {
  const { breaks, uncovered } = await verifyLog(sourceOf(log), options);
  return { breaks: breaks.map(({ chain, kind }) => `${chain} ${kind}`), uncovered };
};
const newest = (log: MemoryLog, tree: string): StoredCheckpoint => log.trees!.checkpoints.findLast((one) => one.organizationId === tree)!;
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
