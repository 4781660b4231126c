import { describe, expect, test } from '@jest/globals';
import { PrioritySemaphore, SemaphoreFull } from './priority-semaphore.js';

const nextTick = () => new Promise((resolve) => setImmediate(resolve));

/** Work that runs until a test ends it, and notes when it began. */
function jobs(semaphore: PrioritySemaphore) {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const start = (name: string, priority: 'known' | 'stranger' = 'stranger') => semaphore.run(priority, () => {
    begun.push(name);
    return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
  });
  return { begun, start, end: (name: string) => ends.get(name)!() };
}

describe('a semaphore with priorities', () => {
  test('runs so many at once, the next when one ends, and those who are known first', async () => {
    const { begun, start, end } = jobs(new PrioritySemaphore({ atOnce: 2, waiting: 2 }));
    const all = [start('a'), start('b'), start('c'), start('d'), start('k', 'known')];
    await nextTick();
    expect(begun).toEqual(['a', 'b']);
    end('b');
    await nextTick();
    expect(begun).toEqual(['a', 'b', 'k']);
    for (const name of ['a', 'k']) end(name);
    await nextTick();
    expect(begun).toEqual(['a', 'b', 'k', 'c', 'd']);
    for (const name of ['c', 'd']) end(name);
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd', 'k']);
  });

  test('refuses at once where there is no slot to wait in, and takes again once there is', async () => {
    const semaphore = new PrioritySemaphore({ atOnce: 1, waiting: 1 });
    const { begun, start, end } = jobs(semaphore);
    const first = [start('a'), start('b')];
    expect(semaphore.hasRoom('stranger')).toBe(false);
    await expect(start('c')).rejects.toThrow(SemaphoreFull);
    expect(semaphore.hasRoom('known')).toBe(true);
    end('a');
    await nextTick();
    expect(semaphore.hasRoom('stranger')).toBe(true);
    end('b');
    await Promise.all(first);
    const last = start('d');
    end('d');
    await last;
    expect(begun).toEqual(['a', 'b', 'd']);
  });

  test('gives its slot back where the work fails', async () => {
    const semaphore = new PrioritySemaphore({ atOnce: 1, waiting: 0 });
    await expect(semaphore.run('stranger', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await semaphore.run('stranger', () => Promise.resolve('fine'))).toBe('fine');
  });
});
