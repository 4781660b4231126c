import { describe, expect, it } from '@jest/globals';
import { append, sourceOf, type MemoryLog } from '../../../../test/support/memory/memory-log.js';
import { agentChain } from '../../../domain/audit/entry/chain.js';
import type { RecordRow } from '../../../domain/audit/completeness/record-row.js';
import { verifyLog } from '../../../domain/audit/integrity/verify-log.js';
import type { ReadStatement, RecordKeeper } from '../../../platform/audit/record-keepers.js';
import { logChecksOf } from './log-checks.js';
import { oneByOne, Pauses, yielding } from './cooperative-yield.js';

/** Does something for longer than others are to wait. @returns whether somebody came in since the last time */
function laborious(): () => boolean {
  let hasCome = true;
  return () => {
    const came = hasCome;
    hasCome = false;
    setImmediate(() => (hasCome = true));
    const begun = performance.now();
    while (performance.now() - begun < 30);
    return came;
  };
}

describe('others come in between', () => {
  it('the entries that a judge is given, also within a batch', async () => {
    const log: MemoryLog = { entries: [], heads: [], leaves: [] };
    const agentId = 'agt_1';
    for (let n = 0; n < 5; n++) {
      append(log, { chain: agentChain('org_a', agentId), agentId, type: 'agent.activated', metadata: { epoch: n } },
        { id: `audit_${n}`, actorId: 'root', timestamp: new Date(n) });
    }
    const [work, cameBetween]: [() => boolean, boolean[]] = [laborious(), []];
    const judge = {
      entry: () => void cameBetween.push(work()),
      end: () => Promise.resolve({ breaks: [], breaksFound: 0, members: {} }),
    };
    await verifyLog(sourceOf(log, 100), { judges: [yielding(judge, new Pauses())] });
    expect(cameBetween).toEqual(log.entries.map(() => true));
  });

  it('the entries that are read once more', async () => {
    const batches = async function* () {
      yield* [[1, 2, 3], [4, 5]];
    };
    const [work, read]: [() => boolean, (readonly [number, boolean])[]] = [laborious(), []];
    for await (const batch of oneByOne(batches(), new Pauses())) for (const item of batch) read.push([item, work()]);
    expect(read).toEqual([1, 2, 3, 4, 5].map((item) => [item, true]));
  });

  it('the rows that entries are compared with, also within a batch', async () => {
    const [work, cameBetween]: [() => boolean, boolean[]] = [laborious(), []];
    const row = (n: number): RecordRow => ({
      organizationId: 'org_a', id: `exec_${n}`, agentId: 'agt_1', capability: 'web.search', status: 'running',
      get members() {
        cameBetween.push(work());
        return {};
      },
    });
    const keeper: RecordKeeper = {
      kind: 'execution',
      rows: async function* () {
        yield [row(1), row(2), row(3)];
        yield [row(4), row(5)];
      },
    };
    const nothingStored: ReadStatement = (sql) => Promise.resolve(sql.includes('from instance') ? [{ name: 'countersign-1' }] : []);
    const [judge] = await logChecksOf(nothingStored, sourceOf({ entries: [], heads: [], leaves: [] }), [keeper], { organizations: 'all' });
    await judge!.end();
    // Read once more to be named, since no entry tells of them.
    expect(cameBetween).toHaveLength(2 * 5);
    expect(cameBetween).not.toContain(false);
  });

  it('for as long as each judges, where several are judged at a time', async () => {
    const batches = async function* () {
      yield* [[1, 2, 3, 4]];
    };
    const [slices, loop] = [[] as number[], { turns: 0, isOver: false }];
    const judged = async () => {
      for await (const _ of oneByOne(batches(), new Pauses())) {
        slices.push(loop.turns);
        const begun = performance.now();
        while (performance.now() - begun < 30);
      }
    };
    const count = () => {
      loop.turns++;
      if (!loop.isOver) setImmediate(count);
    };
    count();
    await Promise.all([judged(), judged(), judged()]);
    loop.isOver = true;
    // All three begin at once, and the last has nobody to share with.
    const between = slices.slice(3, -1).map((turns, i) => turns - slices[i + 2]!);
    expect(between.filter((turns) => turns < 10)).toEqual([]);
  });
});
