// What `countersign audit sweep` does, by the built product, in a process that is there before it is wanted: sweeps when it is told to.
import { runLogRetention } from '../../../dist/src/modules/audit/retention/run-retention.js';
import { completeConfig, givenSecrets, loadConfig } from '../../../dist/src/platform/config/config.js';

const config = loadConfig(process.env);
const complete = completeConfig(config, { ...givenSecrets(config), databaseUrl: process.env.DATABASE_URL });

process.on('message', ({ atOnce, days }) => {
  const failed = [];
  runLogRetention({ ...complete, auditRetentionDays: days }, { atOnce }, (one) => {
    if ('failed' in one) failed.push(String(one.failed));
  }).catch((error) => failed.push(String(error))).finally(() => process.send({ failed }));
});
process.on('disconnect', () => process.exit(0));
process.send({ ready: true });
