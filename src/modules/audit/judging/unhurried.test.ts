import { describe, expect, it } from '@jest/globals';
import { append, sourceOf, type MemoryLog } from '../../../../test/support/memory-log.js';
import { agentChain } from '../../../domain/audit/chain.js';
import { verifyLog } from '../../../domain/audit/verify.js';
import { oneByOne, Pauses, unhurried } from './unhurried.js';

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
    await verifyLog(sourceOf(log, 100), { judges: [unhurried(judge, new Pauses())] });
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
});
