import { expect, test } from '@jest/globals';
import { SharedReads } from './shared-reads.js';

/** A read that ends when it is told to. */
function aSlowRead() {
  const begun: ((value: string) => void)[] = [];
  const failing: ((error: Error) => void)[] = [];
  const read = () => new Promise<string>((done, failed) => void (begun.push(done), failing.push(failed)));
  return { begun, failing, read };
}

const settled = () => new Promise((done) => setImmediate(done));

test('who asks while a read is under way gets the next one, shared, and never that one', async () => {
  const { begun, read } = aSlowRead();
  const reads = new SharedReads<string>();
  const first = reads.read('a', read);
  await settled();
  const others = [reads.read('a', read), reads.read('a', read)];
  await settled();
  expect(begun).toHaveLength(1);
  begun[0]!('first');
  expect(await first).toBe('first');
  await settled();
  expect(begun).toHaveLength(2);
  begun[1]!('second');
  expect(await Promise.all(others)).toEqual(['second', 'second']);
  const third = reads.read('a', read);
  await settled();
  begun[2]!('third');
  expect(await third).toBe('third');
});

test('other things do not wait for it, and one that fails fails for those who share it alone', async () => {
  const { begun, failing, read } = aSlowRead();
  const reads = new SharedReads<string>();
  const one = reads.read('a', read);
  const other = reads.read('b', read);
  await settled();
  expect(begun).toHaveLength(2);
  const behind = reads.read('a', read);
  failing[0]!(new Error('away'));
  await expect(one).rejects.toThrow('away');
  begun[1]!('of b');
  expect(await other).toBe('of b');
  await settled();
  begun[2]!('of a');
  expect(await behind).toBe('of a');
});
