import { DataSource, type DataSourceOptions } from 'typeorm';
import { MaintenanceMode } from '../../platform/audit/maintenance-mode.js';
import type { RunStatement } from '../../platform/auth/credentials/credential-source.js';
import { dataSourceOptions } from '../../platform/database/data-source.js';
import { Janitor } from '../../platform/database/janitor.service.js';
import { Statements } from '../../platform/database/statements/statements.js';
import { commandWork } from '../../platform/database/transaction/command-work.js';
import type { UnitOfWork } from '../../platform/database/transaction/unit-of-work.js';
import { createLogger } from '../../platform/logging/logger.js';
import { NoMetrics } from '../../platform/metrics/metrics.js';
import { AgentEntity } from '../agents/agent.entity.js';
import { AgentStore } from '../agents/agent.store.js';
import { GrantUsageStore } from '../capabilities/grant-usage.store.js';
import { ExecutionEntity } from '../executions/execution.entity.js';
import { ExecutionStore } from '../executions/execution.store.js';
import { CancelWorkService } from '../hitl/requests/cancel-work.service.js';
import { EligibleDecidersQuery } from '../hitl/queue/eligible-deciders.query.js';
import { HitlRequestEntity } from '../hitl/requests/hitl-request.entity.js';
import { HitlRequestStore } from '../hitl/requests/hitl-request.store.js';
import { ReceiptExecutionService } from '../hitl/requests/receipt-execution.service.js';
import { ApplyTransitionService } from '../hitl/requests/apply-transition.service.js';
import { RootKeyStore } from '../organizations/installation/root-key.store.js';
import { EndTasksService } from '../tasks/end-tasks.service.js';
import { TaskStore } from '../tasks/task.store.js';
import { EndSessions } from '../sign-in/sessions/ending/end-sessions.js';
import { SessionStore } from '../sign-in/sessions/session.store.js';

const CONNECT_TIMEOUT_MS = 5_000;

/** What a recovery works with, without a server around it: none may be running, and those that are serve nobody. */
export interface RecoveryParts {
  readonly run: RunStatement;
  readonly work: UnitOfWork;
  readonly agents: AgentStore;
  readonly executions: ExecutionStore;
  readonly cancelling: CancelWorkService;
  readonly tasks: EndTasksService;
  readonly rootKey: RootKeyStore;
  readonly sessions: EndSessions;
}

export async function onRecoveryParts<Result>(databaseUrl: string, work: (parts: RecoveryParts) => Promise<Result>): Promise<Result> {
  const options = dataSourceOptions({ url: databaseUrl, poolSize: 2, connectTimeoutMs: CONNECT_TIMEOUT_MS });
  const dataSource = new DataSource({ ...options, entities: [AgentEntity, ExecutionEntity, HitlRequestEntity] } as DataSourceOptions);
  await dataSource.initialize();
  try {
    return await work(partsOn(dataSource));
  } finally {
    await dataSource.destroy().catch(() => undefined);
  }
}

function partsOn(dataSource: DataSource): RecoveryParts {
  const statements = new Statements(dataSource);
  // Registered with and never run: what is spent can wait for a server.
  const janitor = new Janitor(dataSource, createLogger({ logLevel: 'silent' }), new MaintenanceMode(), new NoMetrics());
  const executions = new ExecutionStore(dataSource, statements);
  const requests = new HitlRequestStore(statements);
  const usage = new GrantUsageStore(statements, janitor);
  // Requests end here and go to nobody, so that it does not matter whom a provider has lowered.
  const moving = new ApplyTransitionService(requests, executions, usage, new EligibleDecidersQuery({}), new NoMetrics());
  const licences = new ReceiptExecutionService(executions, usage);
  const work = commandWork(dataSource);
  return {
    run: (sql, parameters) => dataSource.query(sql, [...parameters]),
    work,
    agents: new AgentStore(dataSource, janitor),
    executions,
    cancelling: new CancelWorkService(requests, moving, executions, usage, licences, { wake: () => undefined }),
    tasks: new EndTasksService(work, new TaskStore(statements), { wake: () => undefined }),
    rootKey: new RootKeyStore(dataSource),
    sessions: new EndSessions(new SessionStore(dataSource)),
  };
}
