import { Injectable } from '@nestjs/common';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { type AgentCaller, GovernedCallService } from './governed-call.service.js';
import type { ModelReply, ModelRequest } from './model-request.js';
import type { PreparedCall } from './prepare-call.service.js';
import { PrepareCallService } from './prepare-call.service.js';
import { RootCallService } from './root-call.service.js';

/** Calls to models, of agents and of root. */
@Injectable()
export class ModelCallsService {
  constructor(
    private readonly governed: GovernedCallService,
    private readonly root: RootCallService,
    private readonly preparing: PrepareCallService,
  ) {}

  call(request: ModelRequest, caller: Caller): Promise<ModelReply> {
    return isAgent(caller) ? this.governed.call(request, caller) : this.root.call(request, caller);
  }

  /** For what asks for no completion. */
  async scanned(request: ModelRequest, caller: Caller): Promise<PreparedCall> {
    if (isAgent(caller)) return this.governed.scanned(request, caller);
    return this.preparing.prepare(request, undefined);
  }
}

export function isAgent(caller: Caller): caller is AgentCaller {
  return caller.principal.kind === 'agent';
}

/** Why the provider gave no answer, as a refusal of ours. */
export function providerProblem(failure: { readonly code: string; readonly message: string }): Problem {
  switch (failure.code) {
    case 'PROVIDER_TIMEOUT':
    case 'PROVIDER_ERROR':
      return new Problem(failure.code, failure.message);
    default:
      return new Problem('UNAVAILABLE', failure.message);
  }
}
