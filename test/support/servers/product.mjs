// The built product without its routes, as the processes of tests have it.
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../../../dist/src/app.module.js';
import { organizationChain } from '../../../dist/src/domain/audit/entry/chain.js';
import { asService } from '../../../dist/src/platform/auth/access/call-context.js';
import { completeConfig, givenSecrets, loadConfig } from '../../../dist/src/platform/config/config.js';
import { UnitOfWork } from '../../../dist/src/platform/database/transaction/unit-of-work.js';
import { createLogger } from '../../../dist/src/platform/logging/logger.js';

const config = loadConfig(process.env);
const complete = completeConfig(config, { ...givenSecrets(config), databaseUrl: process.env.DATABASE_URL });
export const app = await NestFactory.createApplicationContext(AppModule.forRoot(complete, createLogger(complete)), { logger: false });
const work = app.get(UnitOfWork);

/** A work that holds the organization's head. */
export const within = (organizationId, story) =>
  asService('worker', () => work.run({ chains: [organizationChain(organizationId)], leavesFacts: true }, story));

/** Does what it is asked to, until its test is gone. */
export function obey(commands) {
  process.on('message', ({ n, command, args }) => {
    commands[command](...args).then(
      (answer) => process.send({ n, answer }),
      (error) => process.send({ n, error: String(error?.stack ?? error) }),
    );
  });
  process.on('disconnect', () => process.exit(0));
  process.send('ready');
}
