import { describe, expect, it } from '@jest/globals';
import { exportSourceOf, type MemoryFacts } from '../../../../test/support/memory/memory-export.js';
import { checkpoint } from '../../../../test/support/memory/memory-log.js';
import { MADE_AT } from '../../../../test/support/verifier/export-maker.js';
import { type VerifierScenario, scenario } from '../../../../test/support/verifier/verifier-scenario.js';
import { agentChain } from '../entry/chain.js';
import type { LineOf } from './export-lines.js';
import type { ExportSource } from './export-source.js';
import { logLines } from './log-lines.js';
import { personLines } from './person-lines.js';
import {
  KEY, FACTS, ALL, textOf, recordsOf, linesOf, judged, kindsOf, exported, signed, sound, foundIn,
} from '../../../../test/support/verifier/exported-log.js';

describe('a part of the log', () => {
  const times = (made: VerifierScenario) =>
    made.log.entries.filter((one) => one.organizationId === 'org_a').map(({ timestamp }) => timestamp);

  it('is any window of time', async () => {
    const made = erased();
    const source = await signed(made);
    const all = times(made);
    for (const [from, to] of [[0, 5], [3, 9], [4, 4], [10, all.length - 1], [0, all.length - 1]] as const) {
      const { text, result } = await exported(source, { organizations: ['org_a'], from: all[from]!, to: all[to]! });
      sound(result);
      expect(result.covers).toBe('part');
      const shown = kindsOf(text, 'entry').map((one) => (one as { timestamp: string }).timestamp);
      expect(shown).toEqual(expect.arrayContaining(all.slice(from, to + 1)));
    }
  });

  it('may be empty, or begin after everything', async () => {
    const source = await signed(scenario());
    for (const window of [{ from: '2090-01-01T00:00:00.000Z' }, { to: '2000-01-01T00:00:00.000Z' }]) {
      const { text, result } = await exported(source, { ...ALL, ...window });
      sound(result);
      expect(kindsOf(text, 'entry')).toEqual([]);
    }
  });

  it('shows what is not under the checkpoint where it reaches to the end of the tree', async () => {
    const made = scenario();
    await checkpoint(made.log, KEY);
    const all = times(made);
    made.call('org_a', 'agt_1', 60);
    const source = exportSourceOf(made.log, KEY, { ...FACTS, notes: made.notes });
    const open = await exported(source, { organizations: ['org_a'], from: all[5]! });
    sound(open.result, 'valid_unanchored');
    expect(open.result.counts.unanchored).toBe(2);
    const closed = await exported(source, { organizations: ['org_a'], from: all[5]!, to: all[9]! });
    sound(closed.result);
  });

  it.each(['agt_1', 'agt_2'])("is one agent's chain, with the erasures that it needs: %s", async (agentId) => {
    const made = erased();
    const { text, result } = await exported(await signed(made), { organizations: ['org_a'], agentId });
    sound(result);
    const own = made.log.entries.filter((one) => one.organizationId === 'org_a' && one.chain === agentId);
    const others = agentId === 'agt_2' ? 1 : 0;
    expect(kindsOf(text, 'entry')).toHaveLength(own.length + others);
    expect(kindsOf(text, 'inclusion')).toHaveLength(others);
  });

  it('is an agent in both organizations that it was in', async () => {
    sound((await exported(await signed(scenario()), { organizations: ['org_a', 'org_b'], agentId: 'agt_1' })).result);
  });

  it('accounts for a blank whose erasure is not under the checkpoint', async () => {
    const made = scenario();
    await checkpoint(made.log, KEY);
    const comment = made.log.entries.filter((one) => one.event === 'hitl.rejected' && one.chain === 'agt_2')[1]!;
    made.erase('org_a', made.blank(comment, '/metadata/comment'));
    const source = exportSourceOf(made.log, KEY, { ...FACTS, notes: made.notes });
    sound((await exported(source, { organizations: ['org_a'], agentId: 'agt_2' })).result, 'valid_unanchored');
    const { timestamp } = comment;
    sound((await exported(source, { organizations: ['org_a'], from: timestamp, to: timestamp })).result, 'valid_unanchored');
  });

  it('of a swept log carries the sweep', async () => {
    const { source, made } = await swept();
    const all = times(made);
    for (const selection of [{ agentId: 'agt_1' }, { from: all[12]!, to: all[15]! }, { from: all[16]! }, { to: all[10]! }]) {
      sound((await exported(source, { organizations: ['org_a'], ...selection })).result);
    }
    const both = await exported(source, { organizations: ['org_a'], agentId: 'agt_1', from: all[9]!, to: all[14]! });
    sound(both.result);
  });

  it('is not sound when anything in it was changed', async () => {
    const made = erased();
    const source = await signed(made);
    const text = await textOf(logLines(source, { organizations: ['org_a'], agentId: 'agt_2' }, MADE_AT));
    for (let at = 7; at < text.length; at += 211) {
      // Nothing vouches for that count.
      if (text.slice(0, at).endsWith('"withheld":')) continue;
      const sign = text[at] === '0' ? '1' : '0';
      expect((await judged(text.slice(0, at) + sign + text.slice(at + 1))).verdict).toBe('tampered');
    }
  });
});

describe('what was tampered with', () => {
  const at = (made: VerifierScenario) =>
    made.log.entries.findIndex((one) => one.chain === 'agt_2' && one.seq === 3);

  it.each<[string, string, (made: VerifierScenario) => void]>([
    ['an edited entry', 'edited', (made) => {
      const entry = made.log.entries[at(made)]!;
      made.log.entries[at(made)] = { ...entry, payload: entry.payload.replace('rest', 'page') };
    }],
    ['a deleted entry', 'deleted', (made) => void made.log.entries.splice(at(made), 1)],
    ['an entry beyond the end', 'inserted', (made) => {
      const last = made.log.entries.findLast((one) => one.chain === 'agt_2')!;
      made.log.entries.push({ ...last, seq: last.seq + 1, prevHash: last.hash });
    }],
    ['a removed head', 'chain_removed', (made) => void (made.log.heads = made.log.heads.filter((one) => one.chain !== 'agt_2'))],
  ])('is found in the file: %s', async (_name, kind, tamper) => {
    const made = scenario();
    const source = await signed(made);
    tamper(made);
    const { result } = await exported(source);
    expect(result.verdict).toBe('tampered');
    if (kind !== 'chain_removed') expect(result.breaks.map((one) => one.kind)).toContain(kind);
  });
});

describe("a person's export", () => {
  const SELECTION = { userId: 'usr_ada', organizations: ['org_a', 'org_b'], profile: { name: 'Ada' } };

  function facts(made: VerifierScenario): MemoryFacts {
    const own = made.log.entries.filter((one) => one.actorId === 'usr_ada');
    return { ...FACTS, subjects: own.map(({ id }) => ({ userId: 'usr_ada', entryId: id, pointer: '/origin/address' })) };
  }

  it('holds their entries, each proven, with their values and nobody else\'s', async () => {
    const made = scenario(9);
    await checkpoint(made.log, KEY);
    made.call('org_a', 'agt_1', 70);
    const tally = { withheld: 0 };
    const selection = { ...SELECTION, records: recordsOf({ holder: 'organizations', part: { keys: [] } }) };
    const text = await textOf(personLines(exportSourceOf(made.log, KEY, facts(made)), selection, MADE_AT, tally), 'jsonl', tally);
    const result = await judged(text);
    sound(result, 'valid_unanchored');
    const own = made.log.entries.filter((one) => one.actorId === 'usr_ada' && one.organizationId !== 'org_platform');
    expect(result).toMatchObject({ covers: 'person', counts: { entries: own.length, withheld: tally.withheld } });
    expect(tally.withheld).toBeGreaterThan(0);
    expect(text).not.toContain('example.org');
    expect(text).toContain('203.0.113.7');
    expect(text).toContain('"records":{"organizations":{"keys":[]}}');
  });

  it('needs no checkpoint, and no entry', async () => {
    const made = scenario();
    const source = exportSourceOf(made.log, KEY, facts(made));
    const text = await textOf(personLines(source, { ...SELECTION, records: recordsOf() }, MADE_AT, { withheld: 0 }));
    sound(await judged(text), 'valid_unanchored');
    const nobody = { ...SELECTION, userId: 'usr_none', records: recordsOf() };
    sound(await judged(await textOf(personLines(await signed(made), nobody, MADE_AT, { withheld: 0 }))));
  });

  it('holds what modules know of them in as many lines as it takes, and the verifier wants all of these', async () => {
    const parts = Array.from({ length: 12 }, (_, part) => ({
      holder: 'hitl', part: { decided: Array.from({ length: 100 }, (_one, n) => ({ id: `request ${part}.${n}` })) },
    }));
    const rows = parts.flatMap(({ part }) => part.decided);
    const source = await signed(scenario());
    const text = await textOf(personLines(source, { ...SELECTION, records: recordsOf(...parts) }, MADE_AT, { withheld: 0 }));
    expect(kindsOf(text, 'records').map((one) => (one as LineOf<'records'>).records['hitl'])).toEqual([
      { decided: rows.slice(0, 500) }, { decided: rows.slice(500, 1_000) }, { decided: rows.slice(1_000) },
    ]);
    expect(await foundIn(text)).toEqual([]);
    const lines = linesOf(text);
    const second = lines.findIndex((one) => one.includes('"request 5.0"'));
    const lacking = lines.filter((_, n) => n !== second).join('\n');
    expect((await judged(lacking)).breaks.map(({ kind }) => kind)).toEqual(['edited']);
  });
});

describe('the form for people', () => {
  it('has a row for each entry, no formulas, and a digest over all of it', async () => {
    const made = scenario();
    made.add({
      chain: agentChain('org_a', 'agt_2'), agentId: 'agt_2', capability: '=1+1', type: 'execution.blocked',
      metadata: { executionId: 'exec_1', reason: 'because', input: {}, reasons: [] } as never,
    });
    const text = await textOf(logLines(await signed(made), ALL, MADE_AT), 'csv');
    expect(text.split('\r\n').filter((one) => /^\d*,org_/.test(one))).toHaveLength(made.log.entries.length);
    expect(text).not.toMatch(/(^|,)"?[=+@]/m);
    const last = text.split('\r\n').at(-2)!;
    const manifest = JSON.parse(Buffer.from(last.replace('#manifest ', ''), 'base64url').toString()) as { sha256: string };
    const { createHash } = await import('node:crypto');
    expect(createHash('sha256').update(text.slice(0, text.indexOf('#manifest'))).digest('hex')).toBe(manifest.sha256);
  });
});

function erased(): VerifierScenario {
  const made = scenario();
  const comment = made.log.entries.filter((one) => one.event === 'hitl.rejected' && one.chain === 'agt_2')[1]!;
  made.erase('org_a', made.blank(comment, '/metadata/comment'));
  return made;
}

async function swept(): Promise<{ made: VerifierScenario; source: ExportSource; size: number }> {
  const made = scenario();
  const size = 14;
  const cuts = made.sweep('org_a', size, { agt_1: 4, agt_2: 2, sys_org_a: 2 });
  made.call('org_a', 'agt_1', 50);
  const source = await signed(made);
  made.log.entries = made.log.entries.filter((one) => one.organizationId !== 'org_a' || one.seq > (cuts.get(one.chain)?.seq ?? 0));
  return { made, source, size };
}
