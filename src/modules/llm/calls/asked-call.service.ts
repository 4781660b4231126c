import { Injectable } from '@nestjs/common';
import { isJsonObject, type JsonObject, readJson } from '../../../domain/json.js';
import { callDigest } from '../../../domain/llm/model-call.js';
import { readAnswer } from '../../../domain/pii/answers/answer-body.js';
import type { TokenMap } from '../../../domain/pii/answers/tokens.js';
import { recordsNothing } from '../../../platform/auth/access/call-context.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { Waiters } from '../../../platform/wake/waiters.js';
import { ExecutionAnswerService } from '../../gate/execution-answer.service.js';
import { HITL_TOPIC } from '../../hitl/events/hitl-event.js';
import { type ModelReply, type ModelRequest, NO_RETRY } from './model-request.js';
import type { PreparedCall } from './prepare-call.service.js';

const REASONS: Readonly<Record<string, string>> = {
  rejected: 'A person rejected the call.', timed_out: 'Nobody decided in time.', cancelled: 'The call was cancelled.',
};

/** Calls that people decide, and those that were made before: the answer is what the execution has kept. */
@Injectable()
export class AskedCallService {
  constructor(
    private readonly answers: ExecutionAnswerService,
    private readonly waiters: Waiters,
  ) {}

  begun(executionId: string, request: ModelRequest, prepared: PreparedCall, caller: Caller): Promise<ModelReply> {
    this.waiters.wake(HITL_TOPIC);
    return this.decided(executionId, request, prepared, caller);
  }

  /** A call with an Idempotency-Key that was used before. */
  async again(executionId: string, request: ModelRequest, prepared: PreparedCall, caller: Caller): Promise<ModelReply> {
    recordsNothing();
    const { status, hitlRequestId } = await this.answers.find(executionId, caller);
    if (hitlRequestId !== null) return this.decided(executionId, request, prepared, caller);
    if (status === 'running') {
      throw new Problem('IDEMPOTENCY_IN_FLIGHT', 'The first call with this key is still running.', { headers: { 'Retry-After': '1' } });
    }
    throw new Problem('CONFLICT', 'This call was made before, and no answer is kept.', { members: { executionId }, headers: NO_RETRY });
  }

  /** Whether the execution's call is this one, as it left. */
  private async isOf(executionId: string, body: string, caller: Caller): Promise<boolean> {
    const input = readJson((await this.answers.find(executionId, caller)).input);
    return isJsonObject(input) && input['digest'] === callDigest(String(input['nonce']), body);
  }

  private async decided(executionId: string, { family, wait }: ModelRequest, { scan }: PreparedCall, caller: Caller): Promise<ModelReply> {
    const { status, body, headers } = await this.answers.awaited(executionId, wait, caller);
    const { output, error, reason } = body as { output?: JsonObject; error?: { code: string; message: string }; reason?: string };
    switch (body.status) {
      case 'pending_hitl':
        return { kind: 'asked', status, body: body as unknown as JsonObject, headers, scan };
      case 'executed': {
        const answer = output?.['answer'];
        if (!isJsonObject(answer)) {
          throw new Problem('CONFLICT', 'The answer of this call is not kept.', { members: { executionId }, headers: NO_RETRY });
        }
        // Values come back to who sent them; what is kept has placeholders. Other settings, or another call, would number them otherwise.
        const tokens: TokenMap = (await this.isOf(executionId, scan.body, caller)) ? scan.tokens : new Map();
        const read = readAnswer(answer, family, { ...scan.settings, answers: 'off' }, tokens);
        return { kind: 'answered', answer: read.body as JsonObject, scan };
      }
      case 'cancelled':
        throw new Problem('HITL_REJECTED', REASONS[reason ?? ''] ?? 'The call may no longer be made.', { members: { executionId } });
      default:
        throw new Problem('PROVIDER_ERROR', error?.message, { members: { executionId } });
    }
  }
}
