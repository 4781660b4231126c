import { describe, expect, it } from '@jest/globals';
import type { Result } from '../../../../verifier/verify.mjs';
import { exportSourceOf } from '../../../../test/support/memory/memory-export.js';
import { checkpoint } from '../../../../test/support/memory/memory-log.js';
import { INSTANCE, MADE_AT, noteOf, SIGNER } from '../../../../test/support/verifier/export-maker.js';
import { ORGANIZATIONS, VerifierScenario, scenario } from '../../../../test/support/verifier/verifier-scenario.js';
import { inclusionProof } from '../tree/tree-proofs.js';
import { hashText, leafHash } from '../tree/rfc6962.js';
import type { ExportSource } from './export-source.js';
import { logLines } from './log-lines.js';
import { personLines } from './person-lines.js';
import {
  KEY, FACTS, ALL, textOf, recordsOf, judged, kindsOf, exported, signed, sound, foundIn,
} from '../../../../test/support/verifier/exported-log.js';

/** What a file shows of remembered checkpoints. */
async function recalledBy(text: string, remembered: readonly string[]): Promise<Result['remembered']> {
  return (await judged(text, remembered)).remembered;
}

describe('an export of the log', () => {
  it('is taken by the verifier: several organizations, transfers, all of it', async () => {
    const made = scenario();
    const { result } = await exported(await signed(made));
    sound(result);
    expect(result).toMatchObject({ covers: 'log', counts: { entries: made.log.entries.length, chains: made.log.heads.length } });
  });

  it.each(['json', 'jsonl'] as const)('reads the same as %s', async (format) => {
    const text = await textOf(logLines(await signed(scenario()), ALL, MADE_AT), format);
    sound(await judged(text));
    if (format === 'json') expect(JSON.parse(text)).toHaveProperty('lines');
  });

  it('shows one organization without the others', async () => {
    const { text, result } = await exported(await signed(scenario()), { organizations: ['org_b'] });
    sound(result);
    expect(text).not.toContain('"organizationId":"org_a"');
  });

  it('shows what is not under the checkpoint without a place: integrated since, and queued', async () => {
    const made = scenario();
    await checkpoint(made.log, KEY);
    made.call('org_a', 'agt_1', 60);
    // Integrated without a signature: neither map nor platform tree know of it yet.
    const { organizations } = made.log.trees!;
    organizations.set('org_a', made.log.leaves.filter((one) => one.organizationId === 'org_a'));
    made.call('org_a', 'agt_1', 61);
    made.call('org_a', 'agt_9', 62);
    const { result } = await exported(exportSourceOf(made.log, KEY, { ...FACTS, notes: made.notes }));
    sound(result, 'valid_unanchored');
    expect(result.counts.unanchored).toBe(6);
  });

  it.each<[string, (seq: number) => number | undefined]>([
    ['taken away', () => undefined], ['set back', (seq) => seq - 2],
  ])('shows no entry twice where a head was %s', async (_name, seqOf) => {
    const made = scenario();
    const source = await signed(made);
    const at = made.log.heads.findIndex(({ chain, seq }) => chain.startsWith('agt_') && seq > 2);
    const [head] = made.log.heads.splice(at, 1);
    const seq = seqOf(head!.seq);
    if (seq !== undefined) made.log.heads.splice(at, 0, { ...head!, seq });
    const { text, result } = await exported(source);
    expect(kindsOf(text, 'entry')).toHaveLength(made.log.entries.length);
    expect(result.breaks.map(({ chain, kind }) => [chain, kind])).toEqual([[head!.chain, seq === undefined ? 'truncated' : 'inserted']]);
  });

  it('needs no checkpoint, and no entry', async () => {
    const made = scenario();
    sound((await exported(exportSourceOf(made.log, KEY, { ...FACTS, notes: made.notes }))).result, 'valid_unanchored');
    sound((await exported(exportSourceOf(new VerifierScenario().log, KEY, FACTS), { organizations: [] })).result, 'valid_unanchored');
    sound((await exported(exportSourceOf(new VerifierScenario().log, KEY, FACTS))).result, 'valid_unanchored');
  });

  it('says what was erased, and by which entry', async () => {
    const made = scenario();
    const comment = made.log.entries.filter((one) => one.event === 'hitl.rejected' && one.chain === 'agt_2')[1]!;
    made.erase('org_a', made.blank(comment, '/metadata/comment'));
    const { result } = await exported(await signed(made));
    sound(result);
    expect(result.counts.erased).toBe(1);
  });

  it('shows of a swept log what is left, and a seam for each cut', async () => {
    const { source, size } = await swept();
    const { text, result } = await exported(source);
    sound(result);
    expect(kindsOf(text, 'seam')).toHaveLength(3);
    expect(kindsOf(text, 'gap').length).toBeGreaterThan(0);
    expect(kindsOf(text, 'consistency')).toMatchObject([{ organizationId: 'org_a', from: size }]);
  });

  it('shows a sweep that is not under the checkpoint yet', async () => {
    const made = scenario();
    await checkpoint(made.log, KEY);
    made.sweep('org_a', 14, { agt_1: 4 });
    const { text, result } = await exported(exportSourceOf(made.log, KEY, { ...FACTS, notes: made.notes }));
    sound(result, 'valid_unanchored');
    expect(kindsOf(text, 'seam')).toMatchObject([{ sweepIndex: null }]);
  });

  it('shows that its trees go on from an older checkpoint', async () => {
    const made = scenario();
    const older = (await checkpoint(made.log, KEY)).map(({ note }) => note);
    const size = made.log.leaves.filter((one) => one.organizationId === 'org_a').length;
    made.call('org_a', 'agt_1', 60);
    const selection = { organizations: ['org_a'], to: '2000-01-01T00:00:00.000Z' };
    const source = await signed(made);
    const text = await textOf(logLines(source, { ...selection, since: size }, MADE_AT));
    const states = (result: Result) => result.remembered.map(({ origin, state }) => `${origin.split('/')[1]} ${state}`).sort();
    expect(states(await judged(text, older))).toEqual(['org_a continued', 'platform continued']);
    expect(states(await judged(await textOf(logLines(source, selection, MADE_AT)), older))).toContain('org_a unproven');
    const forked = scenario();
    await checkpoint(forked.log, KEY);
    forked.call('org_a', 'agt_1', 61);
    const other = await textOf(logLines(await signed(forked), { ...selection, since: size }, MADE_AT));
    expect((await judged(other, older)).verdict).toBe('tampered');
  });

  it("shows that the platform's tree goes on from any size, and another history of it does not: in a file of everything, too", async () => {
    const made = scenario();
    const older = (await checkpoint(made.log, KEY)).map(({ note }) => note);
    made.call('org_a', 'agt_1', 60);
    const { size } = (await checkpoint(made.log, KEY)).find(({ organizationId }) => organizationId === 'platform')!;
    made.call('org_a', 'agt_2', 61);
    const source = await signed(made);
    const rewritten = (at: number) => noteOf(`${INSTANCE}/platform\n${at}\n${hashText(leafHash('another history'))}\n`, [SIGNER]);
    for (const selection of [ALL, { organizations: ['org_a'] }] as const) {
      const from = async (platformSince: number) => textOf(logLines(source, { ...selection, platformSince }, MADE_AT));
      const recorded = (await recalledBy(await from(1), older)).find(({ origin }) => origin === `${INSTANCE}/platform`);
      expect(recorded).toEqual({ origin: `${INSTANCE}/platform`, size: 1, state: 'continued' });
      for (const at of [1, size]) {
        expect((await recalledBy(await from(at), [rewritten(at)]))[0]).toMatchObject({ size: at, state: 'rewritten' });
        expect(await foundIn(await from(at), [rewritten(at)])).toEqual(['checkpoint_invalid platform']);
      }
    }
  });
});

describe('what a file does not show of what is remembered', () => {
  const grown = async () => {
    const made = scenario();
    const older = (await checkpoint(made.log, KEY)).map(({ note }) => note);
    made.call('org_a', 'agt_1', 60);
    return { older, source: await signed(made) };
  };
  const ask = (tree: string, said?: string) => ({ origin: `${INSTANCE}/${tree}`, state: 'unproven', ...(said ? { ask: said } : {}) });

  it('is said, with what proves it, and stays remembered', async () => {
    const { older, source } = await grown();
    const whole = await textOf(logLines(source, ALL, MADE_AT));
    const states = await recalledBy(whole, older);
    expect(states.filter(({ state }) => state !== 'continued')).toMatchObject([ask('platform', 'platform_since=1')]);
    const result = await judged(whole, older);
    const kept = (tree: string, notes: readonly string[]) => notes.find((note) => note.startsWith(`${INSTANCE}/${tree}\n`));
    expect(kept('platform', result.notes)).toBe(kept('platform', older));
    expect(kept('org_a', result.notes)).not.toBe(kept('org_a', older));
    const agent = await textOf(logLines(source, { organizations: ['org_a'], agentId: 'agt_2' }, MADE_AT));
    const size = kept('org_a', older)!.split('\n')[1];
    expect(await recalledBy(agent, older)).toMatchObject([
      ask('org_a', `organization_id=org_a&since=${size}`), ask('platform', 'platform_since=1')]);
  });

  it('no file of a person can show', async () => {
    const { older, source } = await grown();
    const person = { userId: 'usr_ada', organizations: ['org_a'], profile: {}, records: recordsOf() };
    const found = await recalledBy(await textOf(personLines(source, person, MADE_AT, { withheld: 0 })), older);
    expect(found).toEqual([ask('org_a'), ask('platform')].map((one) => ({ ...one, size: expect.any(Number) })));
    expect(found.map((one) => 'ask' in one)).toEqual([false, false]);
  });
});

describe('which organizations there are', () => {
  const withYoungest = async () => {
    const made = scenario();
    await checkpoint(made.log, KEY);
    made.call('org_c', 'agt_9', 60);
    return { made, source: exportSourceOf(made.log, KEY, { ...FACTS, notes: made.notes }) };
  };

  it('shows of one that is too young for a checkpoint that nothing of it was signed', async () => {
    const { source } = await withYoungest();
    for (const selection of [{ organizations: [...ORGANIZATIONS, 'org_c'], all: true }, { organizations: ['org_c'] }] as const) {
      const { text, result } = await exported(source, selection);
      sound(result, 'valid_unanchored');
      expect(await foundIn(text)).toEqual([]);
      expect(kindsOf(text, 'map')).toContainEqual(expect.objectContaining({ organizationId: 'org_c', size: 0 }));
    }
  });

  it('shows so also under a map that is still empty', async () => {
    const made = new VerifierScenario();
    await checkpoint(made.log, KEY);
    made.call('org_a', 'agt_1', 1);
    const { text, result } = await exported(exportSourceOf(made.log, KEY, FACTS), { organizations: ['org_platform', 'org_a'], all: true });
    sound(result, 'valid_unanchored');
    expect(await foundIn(text)).toEqual([]);
  });

  it('whose checkpoints were taken away, and by whatever map: an older one had rightly no place of it', async () => {
    const { made, source } = await withYoungest();
    const then = (await source.map('org_c'))!;
    await checkpoint(made.log, KEY);
    const size = (await source.checkpoint('platform'))!.size;
    const { index } = then.platform;
    const hashes = (await inclusionProof(source.reader('platform', size), index, size)).map(hashText);
    const checkpointGone = (tree: string) => (tree === 'org_c' ? Promise.resolve(undefined) : source.checkpoint(tree));
    for (const map of [then, { ...then, platform: { index, size, hashes } }, undefined]) {
      const forged = { ...source, checkpoint: checkpointGone, map: () => Promise.resolve(map) };
      expect(await foundIn((await exported(forged, { organizations: ['org_c'] })).text)).toContain('checkpoint_invalid org_c');
    }
  });

  it('one that is not in a file of all is missed, by what was signed and by whoever remembers it', async () => {
    const { made, source } = await withYoungest();
    const notes = (await checkpoint(made.log, KEY)).map(({ note }) => note);
    const { text } = await exported(source, { organizations: ORGANIZATIONS, all: true });
    expect(await foundIn(text)).toEqual(['tree_mismatch platform']);
    expect(await foundIn(text, notes)).toEqual(['checkpoint_invalid org_c', 'tree_mismatch platform']);
    expect((await judged(text, notes)).breaks.map(({ detail }) => detail).join()).toContain('the tree of org_c is gone');
    const some = await exported(source, { organizations: ORGANIZATIONS });
    expect(some.result.covers).toBe('organizations');
    expect(await foundIn(some.text, notes)).toEqual([]);
  });
});

async function swept(): Promise<{ made: VerifierScenario; source: ExportSource; size: number }> {
  const made = scenario();
  const size = 14;
  const cuts = made.sweep('org_a', size, { agt_1: 4, agt_2: 2, sys_org_a: 2 });
  made.call('org_a', 'agt_1', 50);
  const source = await signed(made);
  made.log.entries = made.log.entries.filter((one) => one.organizationId !== 'org_a' || one.seq > (cuts.get(one.chain)?.seq ?? 0));
  return { made, source, size };
}
