import { beforeAll, describe, expect, it } from '@jest/globals';
import { verify } from '../../../../verifier/verify.mjs';
import { exportSourceOf } from '../../../../test/support/memory/memory-export.js';
import { checkpoint } from '../../../../test/support/memory/memory-log.js';
import { partOf } from '../../../../test/support/running/whole-form.js';
import { INSTANCE, MADE_AT, nextKeyNote, noteOf, SIGNER, signerOf } from '../../../../test/support/verifier/export-maker.js';
import { ORGANIZATIONS, type VerifierScenario, scenario } from '../../../../test/support/verifier/verifier-scenario.js';
import { organizationChain } from '../entry/chain.js';
import { signingKey } from '../notes/note.js';
import type { ExportSource } from './export-source.js';
import { logLines, type ExportSelection } from './log-lines.js';
import { sealed } from './sealed-export.js';

const NEWER = signerOf(8);
const [KEY, NEWER_KEY] = [7, 8].map((byte) => signingKey(INSTANCE, Buffer.alloc(32, byte).toString('base64'))) as [
  ReturnType<typeof signingKey>, ReturnType<typeof signingKey>,
];
const NOT_BY_THE_LAST = ['platform', 'org_platform'].map((tree) => `checkpoint_invalid ${INSTANCE}/${tree}`);
const PINNED = [NEWER.vkey, SIGNER.vkey];
const KEYS = [{ key: SIGNER.vkey }, { key: NEWER.vkey, note: nextKeyNote(1, NEWER.vkey, SIGNER) }];

interface BusyLog {
  readonly source: ExportSource;
  readonly times: readonly string[];
}

/** A log with all that a window may cut through: retention, erasures and a key's rotation, under a checkpoint and not yet under any. */
async function busy(): Promise<BusyLog> {
  const made = scenario();
  const comments = made.log.entries.filter(({ event, chain }) => event === 'hitl.rejected' && chain === 'agt_2');
  made.erase('org_a', made.blank(comments[1]!, '/metadata/comment'));
  const cuts = made.sweep('org_a', 14, { agt_1: 4, sys_org_a: 2 });
  made.call('org_a', 'agt_1', 50);
  await checkpoint(made.log, KEY);
  made.rotate(NEWER.vkey);
  for (const [id, note] of made.notes) made.notes.set(id, note + NEWER.sign(note.slice(0, note.lastIndexOf('\n\n') + 1)));
  made.call('org_a', 'agt_2', 60);
  made.call('org_b', 'agt_4', 61);
  await checkpoint(made.log, NEWER_KEY);
  const open = made.log.entries.filter(({ event, chain }) => event === 'hitl.rejected' && chain === 'agt_2').at(-1)!;
  login(made);
  erase(made, open, '/metadata/comment');
  login(made);
  made.call('org_a', 'agt_1', 70);
  made.call('org_b', 'agt_4', 80);
  const calls = made.log.entries.filter(({ event, chain }) => event === 'execution.started' && chain === 'agt_1');
  erase(made, calls.at(-2)!, '/metadata/input/to');
  made.call('org_a', 'agt_2', 90);
  login(made);
  erase(made, made.log.entries.filter(({ event, chain }) => event === 'hitl.rejected' && chain === 'agt_2').at(-1)!, '/metadata/comment');
  made.log.entries = made.log.entries.filter((one) => one.organizationId !== 'org_a' || one.seq > (cuts.get(one.chain)?.seq ?? 0));
  const source = exportSourceOf(made.log, NEWER_KEY, { keys: KEYS, notes: made.notes });
  return { source, times: [...new Set(made.log.entries.map(({ timestamp }) => timestamp))].sort() };
}

const login = (made: VerifierScenario) =>
  made.add({ chain: organizationChain('org_a'), type: 'auth.login', metadata: { method: 'password' } });

function erase(made: VerifierScenario, entry: Parameters<VerifierScenario['blank']>[0], pointer: string): void {
  const blanked = made.blank(entry, pointer);
  expect(blanked).toHaveLength(1);
  const { id, ...erasure } = made.erase('org_a', blanked);
  const note = made.notes.get(id)!;
  made.notes.set(id, noteOf(note.slice(0, note.lastIndexOf('\n\n') + 1), [NEWER]));
  expect(erasure.event).toBe('gdpr.erasure_executed');
}

async function judged({ source }: Pick<BusyLog, 'source'>, selection: ExportSelection): Promise<readonly string[]> {
  const parts: string[] = [];
  for await (const part of sealed(logLines(source, selection, MADE_AT), NEWER_KEY)) parts.push(part);
  const lines = parts.join('').trimEnd().split('\n');
  return (await verify(lines, { keys: PINNED })).breaks.map(({ kind, chain }) => `${kind} ${chain}`);
}

describe('a window of a log with a sweep, erasures and a rotation', () => {
  let recorded: BusyLog;
  beforeAll(async () => {
    recorded = await busy();
  });

  const parts: [string, ExportSelection][] = [
    ['one organization', { organizations: ['org_a'] }],
    ['the installation itself', { organizations: ['org_platform'] }],
    ['all', { organizations: ORGANIZATIONS, all: true }],
    ['one agent', { organizations: ['org_a'], agentId: 'agt_2' }],
    ['one agent that was elsewhere', { organizations: ['org_a', 'org_b'], agentId: 'agt_1' }],
  ];
  it.each(parts.map(([name, part], at) => [name, part, at] as const))('is sound wherever it begins or ends: %s', async (_, part, at) => {
    const { times } = recorded;
    expect(await judged(recorded, part)).toEqual([]);
    for (const [n, time] of times.entries()) {
      // Each part has moments of its own, the next one others: the verifier's own arithmetic is slow.
      if (n % parts.length !== at) continue;
      const others = [{ from: time }, { from: times[6]!, to: time }, { from: time, to: times.at(-9)! }];
      for (const window of partOf([{ to: time }, ...(n % 3 === 0 ? others : [])], 2, n)) {
        expect([window, await judged(recorded, { ...part, ...window })]).toEqual([window, []]);
      }
    }
  });

  it('is not sound where a key signs that the window shows to be retired', async () => {
    const made = scenario();
    made.rotate(NEWER.vkey);
    made.call('org_a', 'agt_1', 60);
    await checkpoint(made.log, KEY);
    const source = exportSourceOf(made.log, KEY, { keys: KEYS, notes: made.notes });
    const [before, at] = [made.log.entries.at(-4)!, made.log.entries.at(-3)!];
    const part = { organizations: ['org_platform'] };
    expect(at.event).toBe('admin.signing_key_rotated');
    expect(await judged({ source }, { ...part, to: at.timestamp })).toEqual(NOT_BY_THE_LAST);
    // What ends before cannot show it.
    expect(await judged({ source }, { ...part, to: before.timestamp })).toEqual([]);
  });

  it('may be signed by a key that was announced behind its end; the whole log may not be without announcing it', async () => {
    const made = scenario();
    await checkpoint(made.log, NEWER_KEY);
    const source = exportSourceOf(made.log, NEWER_KEY, { keys: KEYS, notes: made.notes });
    const part = { organizations: ['org_platform'] };
    expect(await judged({ source }, { ...part, to: made.log.entries.at(-1)!.timestamp })).toEqual([]);
    expect(await judged({ source }, part)).toEqual(NOT_BY_THE_LAST);
  });
});
