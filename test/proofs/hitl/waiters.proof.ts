import { manyWaiters } from '../../support/http/many-waiters.js';
import type { Proof } from '../../support/proofs/proof.js';
import { startServer } from '../../support/servers/server.js';

const POOL = 20;

/** Thousands wait on one server while the other one decides. */
export const proof: Proof = {
  name: 'waiters',
  title: 'Whoever waits holds no database connection, and is woken by the news of another server.',
  longCount: 5_000,
  shortCount: 500,
  needs: 'database',
  run: async ({ count, progress }) => {
    const env = { DATABASE_POOL_SIZE: String(POOL) };
    const here = await startServer({ env });
    try {
      const there = await startServer({ replicaOf: here, env });
      try {
        const { held, notified, shutOut, faults, looks } = await manyWaiters(here, there, count, POOL);
        progress(count);
        const counterexample = held < count ? `only ${held} were held at once` : faults[0];
        return { checked: count, counterexample, coverage: { held, notified, 'shut out': shutOut, 'looks at connections': looks } };
      } finally {
        await there.stop();
      }
    } finally {
      await here.stop();
    }
  },
};
