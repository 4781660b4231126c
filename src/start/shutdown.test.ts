import { describe, expect, it } from '@jest/globals';
import { Shutdown } from './shutdown.js';

/** The real one ends the process here; a promise that never settles is as final for whoever waits. */
function observed() {
  const events: string[] = [];
  const shutdown = new Shutdown(
    (error) => events.push(`said ${(error as Error).message}`),
    ((code: number) => void events.push(`exit ${code}`)) as (code: number) => never,
  );
  return { events, shutdown };
}

describe('Shutdown', () => {
  it('closes what was opened, the last one first, and once however often it is asked', async () => {
    const { events, shutdown } = observed();
    for (const part of ['database', 'server']) shutdown.add(async () => void events.push(part));
    await Promise.all([shutdown.run(0), shutdown.run(1)]);
    expect(events).toEqual(['server', 'database', 'exit 0']);
  });

  it('closes the rest when a part fails, and does not call that well', async () => {
    const { events, shutdown } = observed();
    shutdown.add(async () => void events.push('database'));
    shutdown.add(() => Promise.reject(new Error('stuck')));
    await shutdown.run(0);
    expect(events).toEqual(['said stuck', 'database', 'exit 1']);
  });

  it('closes what is opened while it is under way', async () => {
    const { events, shutdown } = observed();
    shutdown.add(async () => shutdown.add(async () => void events.push('late')));
    await shutdown.run(0);
    expect(events).toEqual(['late', 'exit 0']);
  });
});
