import { Injectable } from '@nestjs/common';
import { jcs } from '../../../domain/audit/entry/jcs.js';
import { LLM_INVOKE } from '../../../domain/gate/decided-input.js';
import type { JsonObject } from '../../../domain/json.js';
import { passedOn } from '../../../domain/llm/family.js';
import type { AgentPrincipal, Caller } from '../../../platform/auth/access/principal.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { ExecuteCall } from '../../gate/admission/execute-call.js';
import { AdmissionService } from '../../gate/admission/admission.service.js';
import { RunExecutionService } from '../../gate/execution/run-execution.service.js';
import { AskedCallService } from './asked-call.service.js';
import { EarlyRefusal } from './early-refusal.service.js';
import { detectedEvents } from './llm-events.js';
import { LlmRuntime, type WaitingCall } from './llm.runtime.js';
import type { ModelReply, ModelRequest } from './model-request.js';
import { type PreparedCall, PrepareCallService } from './prepare-call.service.js';

/** People can be shown so much of a call, in bytes of JSON. */
const SHOWN_BYTES_MAX = 256 * 1024;

type Started = Extract<Awaited<ReturnType<AdmissionService['admit']>>, { kind: 'started' }>;

/** A caller that is an agent. */
export type AgentCaller = Caller & { readonly principal: AgentPrincipal };

/** An agent's call: read, scanned, decided by the gate as `llm:invoke`, made, closed, answered. */
@Injectable()
export class GovernedCallService {
  constructor(
    private readonly preparing: PrepareCallService,
    private readonly refusals: EarlyRefusal,
    private readonly gate: AdmissionService,
    private readonly running: RunExecutionService,
    private readonly runtime: LlmRuntime,
    private readonly asked: AskedCallService,
  ) {}

  async call(request: ModelRequest, caller: AgentCaller): Promise<ModelReply> {
    const { prepared, call } = await this.refusals.judgedFirst(caller, () => this.prepared(request, caller));
    const answer = await this.gate.admit(call, caller, 'execute');
    switch (answer.kind) {
      case 'started':
        return this.run(answer, { ...prepared, waiting: this.withFallbacks(prepared, call, caller) });
      case 'pending':
        return this.asked.begun(answer.executionId, request, prepared, caller);
      case 'replay':
        return this.asked.again(answer.executionId, request, prepared, caller);
      case 'blocked':
        throw await this.refusals.blocked(answer);
      case 'refused':
        throw new Problem(answer.code, answer.detail, answer.errors ? { errors: [...answer.errors] } : {});
      default:
        throw new Error(`a call to a model was answered with ${answer.kind}`);
    }
  }

  /** Reads and scans a call whose completion nobody asks for, such as a count of its tokens. @throws Problem where it may not be made */
  async scanned(request: ModelRequest, caller: AgentCaller): Promise<PreparedCall> {
    const { prepared, call } = await this.refusals.judgedFirst(caller, () => this.prepared(request, caller));
    await this.refusals.assertMayCall(call, caller, { asking: false });
    return prepared;
  }

  private async prepared(request: ModelRequest, caller: AgentCaller): Promise<{ prepared: PreparedCall; call: ExecuteCall }> {
    const prepared = await this.preparing.prepare(request, caller.principal.organizationId);
    const call = this.callOf(request, prepared);
    if (prepared.scan.isBlocked) await this.refusals.piiBlocked(call, prepared.call.model, prepared.scan, caller);
    return { prepared, call };
  }

  private callOf({ forAgentId, family, headers }: ModelRequest, { input, body, call: { model }, scan }: PreparedCall): ExecuteCall {
    const { name: runtime, timeoutSeconds } = this.runtime;
    return {
      capability: LLM_INVOKE, input, inputText: jcs(input), dryRun: false,
      ...(forAgentId === undefined ? {} : { forAgentId }),
      from: {
        runtime: { runtime, timeoutSeconds },
        asked: () => shown({ ...input, body, ...(family === 'anthropic' ? { headers: passedOn(headers) } : {}) }),
        events: (executionId) => detectedEvents(model, scan, executionId),
      },
    };
  }

  /** The gate has decided over the model that the call names. Another one is asked in its place where it would let that run, too. */
  private withFallbacks({ waiting }: PreparedCall, call: ExecuteCall, caller: AgentCaller): WaitingCall {
    const mayStandIn = (model: string, provider: string) => {
      const input = { ...call.input, model, provider };
      return this.refusals.wouldRun({ ...call, input, inputText: jcs(input) }, caller);
    };
    return { ...waiting, outgoing: { ...waiting.outgoing, mayStandIn } };
  }

  private async run({ execution }: Started, { waiting, scan }: PreparedCall): Promise<ModelReply> {
    this.runtime.keep(execution.executionId, waiting);
    const closed = await this.running.run(execution);
    const { performed } = waiting;
    if (!performed) throw new Problem('UNAVAILABLE', 'The call broke off on this server.');
    if (performed.failure) return { kind: 'failed', performed };
    // No answer leaves without its entry: somebody else has closed the execution, with another.
    if (closed?.status !== 'executed') throw new Problem('UNAVAILABLE', 'The answer came when the call had been given up.');
    if (performed.ending !== undefined) return { kind: 'streamed', ending: performed.ending };
    return { kind: 'answered', answer: performed.answer!, scan };
  }
}

function shown(input: JsonObject): { input: JsonObject; inputText: string } | undefined {
  const inputText = jcs(input);
  return Buffer.byteLength(inputText) > SHOWN_BYTES_MAX ? undefined : { input, inputText };
}
