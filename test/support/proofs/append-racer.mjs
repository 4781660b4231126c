// A process that appends to chains as fast as it may, with the built product's unit of work: one of several in a race.
import { createDataSource } from '../../../dist/src/platform/database/data-source.js';
import { UnitOfWork } from '../../../dist/src/platform/database/transaction/unit-of-work.js';

const { url } = JSON.parse(process.env.RACE);
const dataSource = createDataSource({ url, poolSize: 2 });
await dataSource.initialize();
// Nobody calls, no key is shown and nothing is sent.
const work = new UnitOfWork(dataSource, {}, {}, {});

process.on('message', ({ organizationId, chains, units, each }) => {
  void (async () => {
    const errors = [];
    let appended = 0;
    for (let unit = 0; unit < units; unit++) {
      // In any order: it is the unit of work that sorts them.
      const chosen = [...new Set(Array.from({ length: each }, () => chains[Math.floor(Math.random() * chains.length)]))];
      const refs = chosen.map((chain) => ({ organizationId, chain }));
      try {
        await work.run({ chains: refs, leavesFacts: true }, async (tx) => {
          for (const chain of [...refs, ...refs]) tx.record(chain, { type: 'agent.tokens_revoked', metadata: { epoch: unit } });
        });
        appended += 2 * refs.length;
      } catch (error) {
        errors.push(String(error));
      }
    }
    process.send({ appended, errors });
  })();
});
process.on('disconnect', () => process.exit(0));
process.send('ready');
