import { describe, expect, it } from '@jest/globals';
import { append, breaksOf, type MemoryLog } from '../../../../test/support/memory/memory-log.js';
import { agentChain, platformChain } from '../entry/chain.js';
import type { RecordedEvent } from '../entry/prepare-entry.js';
import { type Line, logOf, stamp } from '../../../../test/support/memory/lines-of-log.js';

const kinds = async (log: MemoryLog) => new Set((await breaksOf(log)).map((one) => one.kind));

describe('a transferred agent', () => {
  const plain: Line = { agent: 0, kind: 3, text: '', amount: 0, address: false };
  const out = (): MemoryLog => {
    const log = logOf([plain, plain]);
    const leaving = { type: 'agent.transferred' as const, metadata: { direction: 'out' as const } };
    append(log, { chain: agentChain('org_a', 'agt_1'), agentId: 'agt_1', ...leaving }, stamp(10));
    return log;
  };
  const moved = (fromSeq = 3): MemoryLog => {
    const log = out();
    const left = log.heads[0]!;
    log.heads.push({ ...left, organizationId: 'org_b' });
    const metadata = { direction: 'in' as const, fromSeq, fromHash: left.hash! };
    append(log, { chain: agentChain('org_b', 'agt_1'), agentId: 'agt_1', type: 'agent.transferred', metadata }, stamp(11));
    return log;
  };

  it('keeps its chain across organizations', async () => {
    expect(await breaksOf(moved())).toEqual([]);
    expect(await breaksOf(moved(), 'agt_1')).toEqual([]);
  });

  it.each([['sideways'], ['IN'], [1], [['in']]])('left or arrived, and nothing else: %j', async (direction) => {
    const log = logOf([plain, plain]);
    const where = { chain: agentChain('org_a', 'agt_1'), agentId: 'agt_1' };
    append(log, { ...where, type: 'agent.transferred', metadata: { direction } } as unknown as RecordedEvent, stamp(10));
    const found = await breaksOf(log);
    expect(found).toMatchObject([{ kind: 'inserted', chain: 'agt_1', detail: expect.stringMatching(/is a transfer neither in nor out/) }]);
    expect(await breaksOf(log, 'agt_1')).toEqual(found);
  });

  it('is not registered again where it arrived', async () => {
    const log = moved();
    append(log, {
      chain: agentChain('org_b', 'agt_1'), agentId: 'agt_1', type: 'agent.registered',
      metadata: { name: 'again', riskLevel: 'low' } as never,
    }, stamp(12));
    expect(await kinds(log)).toEqual(new Set(['inserted']));
  });

  it('differs from a chain whose other half is gone, or that claims another place', async () => {
    expect(await kinds(out())).toEqual(new Set(['truncated']));
    expect(await kinds(moved(7))).toContain('inserted');
    const orphan = moved();
    orphan.entries = orphan.entries.filter((entry) => entry.organizationId === 'org_b');
    orphan.leaves = orphan.leaves.filter((leaf) => leaf.organizationId === 'org_b');
    orphan.heads = orphan.heads.filter((head) => head.organizationId === 'org_b');
    expect(await kinds(orphan)).toEqual(new Set(['inserted']));
  });
});

it('the platform is an organization like the others', async () => {
  const log: MemoryLog = { entries: [], heads: [], leaves: [] };
  append(log, { chain: platformChain(), type: 'admin.key_rotated', metadata: {} }, stamp(1));
  expect(await breaksOf(log)).toEqual([]);
});
