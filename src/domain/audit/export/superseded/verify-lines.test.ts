import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { exportOf } from '../../../../../test/support/verifier/export-maker.js';
import { world } from '../../../../../test/support/verifier/verifier-world.js';
import { agentChain } from '../../entry/chain.js';
import { verifyLines } from './verify-lines.js';

const VECTORS = join(import.meta.dirname, '../../../../../verifier/vectors');

interface Wanted {
  readonly verdict: string;
  readonly breaks: readonly { readonly kind: string }[];
}

const expected = JSON.parse(readFileSync(join(VECTORS, 'expected.json'), 'utf8')) as Record<string, Wanted>;

async function* linesOf(text: string): AsyncGenerator<Uint8Array> {
  for (const line of text.split('\n')) if (line !== '') yield Buffer.from(line, 'utf8');
}

const verdictOf = ({ breaksFound, uncovered, checkpoint }: Awaited<ReturnType<typeof verifyLines>>) =>
  breaksFound > 0 ? 'tampered' : uncovered === 0 && checkpoint ? 'valid' : 'valid_unanchored';

/** The verifier that shares no code with this one says the same of every file. */
describe('an export, line by line', () => {
  it.each(readdirSync(VECTORS).filter((name) => name.endsWith('.jsonl')))('%s', async (name) => {
    const wanted = expected[name] ?? expected[name.replace('.jsonl', '')];
    const found = await verifyLines(linesOf(readFileSync(join(VECTORS, name), 'utf8')));
    expect([verdictOf(found), new Set(found.breaks.map(({ kind }) => kind))])
      .toEqual([wanted!.verdict, new Set(wanted!.breaks.map(({ kind }) => kind))]);
  });
});

describe('bytes that are no UTF-8', () => {
  const made = world();
  const place = { chain: agentChain('org_a', 'agt_1'), agentId: 'agt_1' };
  made.add({ ...place, type: 'hitl.rejected', capability: 'email.send', metadata: { hitlId: 'hitl_x', comment: 'caf\uFFFD' } });
  const lines = exportOf(made.log).map((text) => Buffer.from(text));
  // A lenient decoder reads both the same.
  const changed = lines.map((bytes) => Buffer.from(bytes.toString('latin1').replace('\u00ef\u00bf\u00bd', '\u00ff'), 'latin1'));
  const asJson = (all: readonly Buffer[]) => {
    const separated = all.map((bytes, n) => (n < all.length - 1 ? Buffer.from([...bytes, 0x2c]) : bytes));
    return [Buffer.from('{"lines":['), ...separated, Buffer.from(']}')];
  };
  async function* each(all: readonly Buffer[]) {
    yield* all;
  }

  const asLines = (all: readonly Buffer[]) => all;
  it.each([['lines', asLines], ['their JSON form', asJson]])('are a change of the file: %s', async (_form, form) => {
    expect(Buffer.concat(changed).toString('utf8')).toBe(Buffer.concat(lines).toString('utf8'));
    expect(verdictOf(await verifyLines(each(form(lines))))).toBe('valid');
    const found = await verifyLines(each(form(changed)));
    for (const detail of [/cannot be read: it is not UTF-8/, /another digest/]) {
      const named = { kind: 'edited', detail: expect.stringMatching(detail) };
      expect(found.breaks).toContainEqual(expect.objectContaining(named));
    }
  });
});
