import { Module } from '@nestjs/common';
import { AgentsModule } from '../agents/agents.module.js';
import { CapabilitiesModule } from '../capabilities/capabilities.module.js';
import { GateModule } from '../gate/gate.module.js';
import { RuntimeSelection } from '../gate/runtimes/runtime-selection.js';
import { AskedCallService } from './calls/asked-call.service.js';
import { EarlyRefusal } from './calls/early-refusal.service.js';
import { GovernedCallService } from './calls/governed-call.service.js';
import { LlmRuntime } from './calls/llm.runtime.js';
import { ModelCallsService } from './calls/model-calls.service.js';
import { PerformCallService } from './calls/perform-call.service.js';
import { PrepareCallService } from './calls/prepare-call.service.js';
import { RootCallService } from './calls/root-call.service.js';
import { ChatService } from './chat.service.js';
import { LlmController } from './llm.controller.js';
import { ModelListService } from './providers/model-list.service.js';
import { ModelProviders } from './providers/model-providers.js';
import { PiiScanner } from './scan/pii-scanner.service.js';
import { ScanCallService } from './scan/scan-call.service.js';
import { ScanSettingsQuery } from './scan/scan-settings.query.js';
import { UsageService } from './usage.service.js';
import { AnthropicController } from './wire/anthropic.controller.js';
import { CountTokensService } from './wire/count-tokens.service.js';
import { ModelsController } from './wire/models.controller.js';
import { OpenAiController } from './wire/openai.controller.js';
import { WireCallsService } from './wire/wire-calls.service.js';

@Module({
  imports: [AgentsModule, CapabilitiesModule, GateModule],
  controllers: [OpenAiController, AnthropicController, ModelsController, LlmController],
  providers: [
    AskedCallService, ChatService, CountTokensService, EarlyRefusal, GovernedCallService, LlmRuntime, ModelCallsService, ModelListService,
    ModelProviders, PerformCallService, PiiScanner, PrepareCallService, RootCallService, ScanCallService, ScanSettingsQuery, UsageService,
    WireCallsService,
  ],
})
export class LlmModule {
  constructor(runtimes: RuntimeSelection, llm: LlmRuntime) {
    runtimes.register(llm);
  }
}
