// The built product without its routes: erases by its holders of personal data, and tells what they know, when it is asked to.
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../../dist/src/app.module.js';
import { organizationChain } from '../../dist/src/domain/audit/chain.js';
import { PersonalDataHolders } from '../../dist/src/platform/audit/personal-data.js';
import { asService } from '../../dist/src/platform/auth/call-context.js';
import { completeConfig, givenSecrets, loadConfig } from '../../dist/src/platform/config/config.js';
import { UnitOfWork } from '../../dist/src/platform/database/unit-of-work.js';
import { createLogger } from '../../dist/src/platform/logging/logger.js';

const config = loadConfig(process.env);
const complete = completeConfig(config, { ...givenSecrets(config), databaseUrl: process.env.DATABASE_URL });
const app = await NestFactory.createApplicationContext(AppModule.forRoot(complete, createLogger(complete)), { logger: false });
const holders = app.get(PersonalDataHolders).all();
const work = app.get(UnitOfWork);

const within = (organizationId, story) =>
  asService('worker', () => work.run({ chains: [organizationChain(organizationId)], leavesFacts: true }, story));

const DEEDS = {
  holders: async () => holders.map(({ name, tables }) => ({ name, tables })),
  /** One pass through all holders, each to its end. */
  erase: async (what, limit) => {
    const counts = {};
    let calls = 0;
    for (const holder of holders) {
      let after;
      do {
        const erased = await within(what.organizationId, (tx) => holder.erase(tx, what, limit, after));
        for (const [kind, count] of Object.entries(erased.counts)) counts[kind] = (counts[kind] ?? 0) + count;
        after = erased.next;
        calls++;
      } while (after !== undefined);
    }
    return { counts, calls };
  },
  about: async (organizationId, userId) => {
    const known = {};
    for (const holder of holders) known[holder.name] = await within(organizationId, (tx) => holder.about(tx, userId));
    return known;
  },
};

process.on('message', ({ n, deed, args }) => {
  DEEDS[deed](...args).then((answer) => process.send({ n, answer }), (error) => process.send({ n, error: String(error?.stack ?? error) }));
});
process.on('disconnect', () => process.exit(0));
process.send('ready');
