import { describe, expect, it, jest } from '@jest/globals';
import { createReadStream, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { agentChain } from '../../../src/domain/audit/entry/chain.js';
import { linesOf, verify } from '../../../verifier/verify.mjs';
import { checkoutRoot } from '../../../src/platform/config/checkout-root.js';
import {
  checkpointOf, exportOf, type Line, linesOf as linesOfExport, seal, SIGNER, signerOf,
} from '../../support/verifier/export-maker.js';
import { onEntry, verifierCases } from '../../support/verifier/verifier-cases.js';
import { scenario } from '../../support/verifier/verifier-scenario.js';

const judged = async (lines: readonly string[], options = {}) => {
  const { verdict, breaks } = await verify(lines, options);
  return [verdict, ...breaks.map(({ kind, detail }) => `${kind}: ${detail}`)];
};

describe('an untouched export', () => {
  it('is valid', async () => {
    expect(await judged(exportOf(scenario().log))).toEqual(['valid']);
  });

  it('is valid so far while entries are younger than the checkpoint', async () => {
    expect(await judged(exportOf(scenario().log, { anchored: (_, leaves) => Math.max(0, leaves - 2) }))).toEqual(['valid_unanchored']);
    expect(await judged(exportOf(scenario().log, { anchored: () => 0 }))).toEqual(['valid_unanchored']);
  });

  it('is valid after an erasure, and a second one', async () => {
    const made = scenario();
    for (const n of [1, 3]) {
      const entry = made.log.entries.filter((one) => one.event === 'hitl.rejected' && one.organizationId === 'org_a')[n]!;
      made.erase('org_a', made.blank(entry, '/metadata/comment'));
    }
    expect(await judged(exportOf(made.log))).toEqual(['valid']);
  });

  it('is valid after a sweep, and a second one', async () => {
    const made = scenario();
    made.sweep('org_a', 12, { agt_1: 4, sys_org_a: 1 });
    made.call('org_a', 'agt_1', 50);
    const cuts = made.sweep('org_a', 18, { agt_1: 6, agt_2: 4, sys_org_a: 2 });
    expect(await judged(exportOf(made.log, { cuts }))).toEqual(['valid']);
    expect(await judged(exportOf(made.log, { cuts, anchored: (_, leaves) => Math.max(0, leaves - 1) }))).toEqual(['valid_unanchored']);
  });

  it('is valid as a part: a window, an agent, a person', async () => {
    const made = scenario();
    const entry = made.log.entries.filter((one) => one.event === 'hitl.rejected' && one.chain === 'agt_2')[1]!;
    made.erase('org_a', made.blank(entry, '/metadata/comment'));
    made.call('org_a', 'agt_1', 60);
    for (const range of [[3, 9], [0, 12], [5, 1_000]] as const) expect(await judged(exportOf(made.log, { range }))).toEqual(['valid']);
    expect(await judged(exportOf(made.log, { agentId: 'agt_2', organizations: ['org_a'] }))).toEqual(['valid']);
    const shows = ({ seq }: { seq: number }) => seq % 3 === 0;
    expect(await judged(exportOf(made.log, { what: 'person', shows, organizations: ['org_a', 'org_b'] }))).toEqual(['valid']);
  });

  it('goes on from a remembered checkpoint', async () => {
    const made = scenario();
    const before = await verify(exportOf(made.log));
    made.call('org_a', 'agt_1', 70);
    const after = await verify(exportOf(made.log), { remembered: before.notes, keys: [SIGNER.vkey] });
    expect(after.remembered.map(({ state }) => state)).toEqual(['continued', 'continued', 'continued', 'unproven']);
    expect(checkpointOf(made.log, 'org_a', 1).size).toBe(1);
  });
});

describe('each change is found', () => {
  it.each(verifierCases())('$name', async ({ lines, verdict, kinds }) => {
    const result = await verify(lines);
    expect(result.verdict).toBe(verdict);
    const found = new Set(result.breaks.map((one) => one.kind));
    expect([...kinds.filter((kind) => !found.has(kind)), ...(kinds.length === 0 ? found : [])]).toEqual([]);
  });
});

describe('what would overflow a stack', () => {
  const { log } = scenario();
  const changed = (change: (entry: Line) => Line) => seal(onEntry((one) => one['seq'] === 3, change)(linesOfExport(log)));
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  const disclosed = (members: object) => (entry: Line) => {
    const [first, ...others] = JSON.parse(entry['disclosures'] as string) as object[];
    return { ...entry, disclosures: JSON.stringify([{ ...first, ...members }, ...others]) };
  };

  it.each<[string, (entry: Line) => Line]>([
    ['disclosures', (entry) => ({ ...entry, disclosures: deep(100_000) })],
    ['a value', disclosed({ value: deep(100_000) })],
    ['a long salt', disclosed({ salt: 'A'.repeat(400_000) })],
    ['a payload', (entry) => {
      const payload = (entry['payload'] as string).replace('"metadata":{', `"metadata":{"a":${deep(100_000)},`);
      return { ...entry, payload };
    }],
  ])('is a break that is named: %s', async (_, change) => {
    const { verdict, breaks } = await verify(changed(change));
    expect([verdict, [...new Set(breaks.map(({ kind, position }) => `${kind} ${position}`))]]).toEqual(['tampered', ['edited 3']]);
  });

  it('is no line of a file, either', async () => {
    const lines = exportOf(log);
    const { verdict } = await verify([...lines.slice(0, 3), `{"kind":"chain","x":${deep(100_000)}}`, ...lines.slice(3)]);
    expect(verdict).toBe('tampered');
  });
});

describe('a signature that is repeated', () => {
  /** How often numbers of 64 bits are made, as only hashing for a signature and reading its points need. */
  const workOf = async (times: number) => {
    const lines = linesOfExport(scenario().log).map((one) =>
      one.kind === 'checkpoint' ? { ...one, note: (one['note'] as string).replace(/(?<=\n\n).*\n/s, (line) => line.repeat(times)) } : one);
    const counted = jest.spyOn(BigInt, 'asUintN');
    try {
      expect((await verify(seal(lines))).verdict).toBe('valid');
      return counted.mock.calls.length;
    } finally {
      counted.mockRestore();
    }
  };

  it('is checked once', async () => {
    const once = await workOf(1);
    expect(once).toBeGreaterThan(1_000);
    expect(await workOf(100)).toBe(once);
  });
});

describe('the committed vectors', () => {
  const folder = join(checkoutRoot(), 'verifier', 'vectors');
  const expected = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as Record<string, { entries: number }>;

  it('are all listed', () => {
    expect(readdirSync(folder).sort()).toEqual([...Object.keys(expected), 'expected.json'].sort());
  });

  it.each(Object.entries(expected))('%s', async (name, wanted) => {
    const { verdict, breaks, counts } = await verify(linesOf(createReadStream(join(folder, name))));
    const places = breaks.map(({ chain, position, entryId, kind }) => ({ chain, position, entryId, kind }));
    expect({ verdict, entries: counts.entries, breaks: places }).toEqual(wanted);
  });

  it('read the same in their JSON form', async () => {
    const lines = readFileSync(join(folder, 'valid.jsonl'), 'utf8').trimEnd().split('\n');
    const json = `{"lines":[\n${lines.join(',\n')}\n]}\n`;
    expect((await verify(linesOf([Buffer.from(json)]))).verdict).toBe('valid');
    expect((await verify(linesOf([Buffer.from(json.replace('"auth.login"', '"auth.logout"'))]))).verdict).toBe('tampered');
  });
});

describe('bytes that are no UTF-8', () => {
  const made = scenario();
  const place = { chain: agentChain('org_a', 'agt_1'), agentId: 'agt_1' };
  made.add({ ...place, type: 'hitl.rejected', capability: 'email.send', metadata: { hitlId: 'hitl_x', comment: 'caf\uFFFD' } });
  const lines = exportOf(made.log).map((text) => Buffer.from(text));
  // A lenient decoder reads both the same.
  const changed = lines.map((bytes) => Buffer.from(bytes.toString('latin1').replace('\u00ef\u00bf\u00bd', '\u00ff'), 'latin1'));
  const asJson = (all: readonly Buffer[]) => {
    const separated = all.map((bytes, n) => (n < all.length - 1 ? Buffer.from([...bytes, 0x2c]) : bytes));
    return [Buffer.from('{"lines":['), ...separated, Buffer.from(']}')];
  };
  const asLines = (all: readonly Buffer[]) => all;

  it.each([['lines', asLines], ['their JSON form', asJson]])('are a change of the file: %s', async (_form, form) => {
    expect(Buffer.concat(changed).toString('utf8')).toBe(Buffer.concat(lines).toString('utf8'));
    expect((await verify(form(lines))).verdict).toBe('valid');
    const found = await verify(form(changed));
    for (const detail of [/cannot be read/, /another digest/]) {
      expect(found.breaks).toContainEqual(expect.objectContaining({ kind: 'edited', detail: expect.stringMatching(detail) }));
    }
  });
});

describe('what is no export', () => {
  it.each([
    ['nothing', ''], ['a table', 'id,event\naudit_1,auth.login\n'], ['packed bytes', '\u001f\u008b\n\u0001'], ['other JSON', '{"a":1}\n'],
  ])('is not called tampered with: %s', async (_, text) => {
    await expect(verify(linesOf([Buffer.from(text)]))).rejects.toThrow('no line of an export');
  });
});

describe('keys and remembered checkpoints', () => {
  const { log } = scenario();

  it('count only when pinned ones are given', async () => {
    expect((await verify(exportOf(log), { keys: [SIGNER.vkey] })).verdict).toBe('valid');
    const [other] = [signerOf(9)];
    expect((await verify(exportOf(log, { signers: [other] }), { keys: [SIGNER.vkey] })).verdict).toBe('tampered');
    await expect(verify(exportOf(log), { keys: ['nonsense'] })).rejects.toThrow('verifier key');
  });

  it('find an older state, and another history', async () => {
    const later = scenario(6);
    const notes = (await verify(exportOf(later.log))).notes;
    expect((await judged(exportOf(log), { remembered: notes }))[0]).toBe('tampered');
    expect((await verify(exportOf(later.log), { remembered: (await verify(exportOf(log))).notes })).verdict).toBe('tampered');
  });

  it('are not compared with an archive that is older: of its own moment it is', async () => {
    const lines = linesOfExport(log, { what: 'person', shows: () => true }).filter(({ kind }) => !['profile', 'records'].includes(kind));
    const archived = lines.map(({ disclosures: _, ...one }) => (one.kind === 'export' ? { ...one, what: 'archive' } : one)) as Line[];
    const { notes: remembered } = await verify(exportOf(scenario(6).log));
    const kept = await verify(seal(archived), { remembered });
    expect([kept.verdict, ...new Set(kept.remembered.map(({ state }) => state))]).toEqual(['valid', 'continued', 'unproven']);
    expect(remembered).toEqual(expect.arrayContaining([...kept.notes]));
  });

  it('are proven by consistency where a part of the tree is hidden', async () => {
    const made = scenario();
    const old = exportOf(made.log, { anchored: (_, leaves) => Math.max(1, leaves - 3) });
    const { notes } = await verify(old);
    const size = made.log.leaves.filter((one) => one.organizationId === 'org_a').length - 3;
    const stateOf = async (since: number[]) =>
      (await verify(exportOf(made.log, { agentId: 'agt_2', organizations: ['org_a'], since }), { remembered: notes })).remembered[0]?.state;
    expect(await stateOf([])).toBe('unproven');
    expect(await stateOf([size])).toBe('continued');
  });
});
