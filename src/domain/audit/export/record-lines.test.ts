import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../json.js';
import { type PersonalDataPart, recordLines } from './record-lines.js';

async function linesOf(...parts: readonly PersonalDataPart[]): Promise<JsonObject[]> {
  const held = async function* () { for (const part of parts) yield await Promise.resolve(part); };
  const lines: JsonObject[] = [];
  for await (const { records } of recordLines(held())) lines.push(records);
  return lines;
}

const rows = (count: number, text = '') => Array.from({ length: count }, (_, n) => ({ n, text }));
const keys = (list: JsonObject[]): PersonalDataPart => ({ holder: 'organizations', part: { keys: list } });

describe('the lines of what modules hold of a person', () => {
  it('are one where there is little, with what is empty', async () => {
    const lines = await linesOf(
      { holder: 'organizations', part: { account: { id: 'usr_1' } } }, keys([]), keys(rows(2)), keys([]), { holder: 'platform', part: {} },
    );
    expect(lines).toEqual([{ organizations: { account: { id: 'usr_1' }, keys: rows(2) }, platform: {} }]);
    expect(await linesOf()).toEqual([{}]);
  });

  it('are more where there are many rows, each of them in one, and in their order', async () => {
    const lines = await linesOf(keys(rows(501)), { holder: 'teams', part: { memberships: rows(1) } });
    expect(lines).toEqual([
      { organizations: { keys: rows(500) } }, { organizations: { keys: rows(501).slice(500) }, teams: { memberships: rows(1) } },
    ]);
    expect(await linesOf(keys(rows(500)))).toHaveLength(1);
  });

  it('are more where rows are long', async () => {
    const long = rows(5, 'x'.repeat(150 * 1024));
    const lines = await linesOf(keys(long));
    expect(lines.map((one) => (one['organizations'] as { keys: JsonObject[] }).keys.map(({ n }) => n))).toEqual([[0, 1], [2, 3], [4]]);
  });

  it('hold what a file can hold', async () => {
    expect(await linesOf(keys([{ name: '\ud800', n: Infinity }]))).toEqual([
      { organizations: { keys: [{ name: '[unreadable]', n: '[unreadable]' }] } }]);
  });
});
