import { describe, expect, it } from '@jest/globals';
import { verify } from '../../verifier/verify.mjs';
import { checkpointOf, exportOf, SIGNER } from '../support/export-maker.js';
import { verifierCases } from '../support/verifier-cases.js';
import { world } from '../support/verifier-world.js';

const judged = async (lines: readonly string[], options = {}) => {
  const { verdict, breaks } = await verify(lines, options);
  return [verdict, ...breaks.map(({ kind, detail }) => `${kind}: ${detail}`)];
};

describe('an untouched export', () => {
  it('is valid', async () => {
    expect(await judged(exportOf(world().log))).toEqual(['valid']);
  });

  it('is valid so far while entries are younger than the checkpoint', async () => {
    expect(await judged(exportOf(world().log, { anchored: (_, leaves) => Math.max(0, leaves - 2) }))).toEqual(['valid_unanchored']);
    expect(await judged(exportOf(world().log, { anchored: () => 0 }))).toEqual(['valid_unanchored']);
  });

  it('is valid after an erasure, and a second one', async () => {
    const made = world();
    for (const n of [1, 3]) {
      const entry = made.log.entries.filter((one) => one.event === 'hitl.rejected' && one.organizationId === 'org_a')[n]!;
      made.erase('org_a', made.blank(entry, '/metadata/comment'));
    }
    expect(await judged(exportOf(made.log))).toEqual(['valid']);
  });

  it('is valid after a sweep, and a second one', async () => {
    const made = world();
    made.sweep('org_a', 12, { agt_1: 4, sys_org_a: 1 });
    made.call('org_a', 'agt_1', 50);
    const cuts = made.sweep('org_a', 18, { agt_1: 6, agt_2: 4, sys_org_a: 2 });
    expect(await judged(exportOf(made.log, { cuts }))).toEqual(['valid']);
    expect(await judged(exportOf(made.log, { cuts, anchored: (_, leaves) => Math.max(0, leaves - 1) }))).toEqual(['valid_unanchored']);
  });

  it('is valid as a part: a window, an agent, a person', async () => {
    const made = world();
    const entry = made.log.entries.filter((one) => one.event === 'hitl.rejected' && one.chain === 'agt_2')[1]!;
    made.erase('org_a', made.blank(entry, '/metadata/comment'));
    made.call('org_a', 'agt_1', 60);
    for (const range of [[3, 9], [0, 12], [5, 1_000]] as const) expect(await judged(exportOf(made.log, { range }))).toEqual(['valid']);
    expect(await judged(exportOf(made.log, { agentId: 'agt_2', organizations: ['org_a'] }))).toEqual(['valid']);
    const shows = ({ seq }: { seq: number }) => seq % 3 === 0;
    expect(await judged(exportOf(made.log, { what: 'person', shows, organizations: ['org_a', 'org_b'] }))).toEqual(['valid']);
  });

  it('goes on from a remembered checkpoint', async () => {
    const made = world();
    const before = await verify(exportOf(made.log));
    made.call('org_a', 'agt_1', 70);
    const after = await verify(exportOf(made.log), { remembered: before.notes, keys: [SIGNER.vkey] });
    expect(after.remembered.map(({ state }) => state)).toEqual(['continued', 'continued', 'continued', 'unproven']);
    expect(checkpointOf(made.log, 'org_a', 1).size).toBe(1);
  });
});

describe('each deed is found', () => {
  it.each(verifierCases())('$name', async ({ lines, verdict, kinds }) => {
    const result = await verify(lines);
    expect(result.verdict).toBe(verdict);
    const found = new Set(result.breaks.map((one) => one.kind));
    expect([...kinds.filter((kind) => !found.has(kind)), ...(kinds.length === 0 ? found : [])]).toEqual([]);
  });
});
