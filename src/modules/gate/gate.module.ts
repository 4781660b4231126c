import { Module, type BeforeApplicationShutdown } from '@nestjs/common';
import { CONFIG, type CompleteConfig } from '../../platform/config/config.js';
import { Smtp } from '../../platform/mail/smtp.js';
import { McpClient } from '../../platform/outbound/mcp/mcp-client.js';
import { OutboundGuard } from '../../platform/outbound/outbound-guard.js';
import { OutboxWorker } from '../../platform/outbox/outbox.worker.js';
import { AgentsModule } from '../agents/agents.module.js';
import { AuthorityModule } from '../authority/authority.module.js';
import { CapabilitiesModule } from '../capabilities/capabilities.module.js';
import { ConnectorSecrets } from '../capabilities/secrets/connector-secrets.service.js';
import { ExecutionsModule } from '../executions/executions.module.js';
import { HitlModule } from '../hitl/hitl.module.js';
import { AdmissionBatch } from './admission/admission-batch.service.js';
import { AdmissionService } from './admission/admission.service.js';
import { CommittedSignals } from './admission/committed-signals.js';
import { TracedBatch } from './admission/traced-batch.js';
import { BeginApprovedService } from './execution/begin-approved.service.js';
import { CloseExecutionService } from './execution/close-execution.service.js';
import { ExecutionWorker } from './execution/execution-worker.service.js';
import { ExecutionAnswerService } from './execution-answer.service.js';
import { GateService } from './gate.service.js';
import { GateController } from './gate.controller.js';
import { StillAllowedService } from './execution/still-allowed.service.js';
import { RecoverExecutionsService } from './execution/recover-executions.service.js';
import { RunExecutionService } from './execution/run-execution.service.js';
import { ConnectorRuntime } from './runtimes/connector.runtime.js';
import { EmailConnectorRuntime } from './runtimes/email-connector.runtime.js';
import { HttpConnectorRuntime } from './runtimes/http-connector.runtime.js';
import { McpConnectorRuntime } from './runtimes/mcp-connector.runtime.js';
import { RuntimeSelection } from './runtimes/runtime-selection.js';
import { WebhookRuntime } from './runtimes/webhook.runtime.js';
import { UnknownCommits } from './admission/unknown-commits.query.js';

const runtimeSelection = {
  provide: RuntimeSelection,
  inject: [OutboundGuard, McpClient, Smtp, ConnectorSecrets, CONFIG],
  useFactory: (guard: OutboundGuard, mcp: McpClient, smtp: Smtp, secrets: ConnectorSecrets, config: CompleteConfig) => {
    const { runtimePrimary: primary, runtimeFallback: fallback, runtimeWebhookUrl: url, webhookSecret: secret } = config;
    const webhook = url !== undefined && secret !== undefined ? [new WebhookRuntime(guard, { url, secret })] : [];
    const connector = new ConnectorRuntime(secrets, {
      http: new HttpConnectorRuntime(guard), mcp: new McpConnectorRuntime(mcp), email: new EmailConnectorRuntime(smtp),
    });
    return new RuntimeSelection([connector, ...webhook], { primary, ...(fallback ? { fallback } : {}) });
  },
};

@Module({
  imports: [AgentsModule, AuthorityModule, CapabilitiesModule, ExecutionsModule, HitlModule],
  controllers: [GateController],
  providers: [
    runtimeSelection, AdmissionBatch, AdmissionService, BeginApprovedService, CloseExecutionService, CommittedSignals, TracedBatch,
    ExecutionAnswerService, ExecutionWorker, GateService,
    RecoverExecutionsService, RunExecutionService, StillAllowedService, UnknownCommits,
  ],
  exports: [AdmissionService, ExecutionAnswerService, RunExecutionService, RuntimeSelection, StillAllowedService],
})
export class GateModule implements BeforeApplicationShutdown {
  constructor(
    private readonly admission: AdmissionService,
    private readonly running: RunExecutionService,
    outbox: OutboxWorker,
    worker: ExecutionWorker,
  ) {
    outbox.register(worker);
  }

  /** What was let through is finished and closed before the process ends. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.admission.drained();
    await this.running.drained();
  }
}
