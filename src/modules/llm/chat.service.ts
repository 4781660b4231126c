import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ANTHROPIC_VERSION } from '../../domain/llm/family.js';
import { chatBody } from '../../domain/llm/chat-body.js';
import { answerFacts, textOf } from '../../domain/llm/whole-answer.js';
import { recordsNothing } from '../../platform/auth/access/call-context.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import { readBody } from '../../platform/http/fields/read-members.js';
import { parsedBody } from '../../platform/http/request/body-reader.js';
import { prefersLenience } from '../../platform/http/request/prefer.js';
import { queryOf, readQuery } from '../../platform/http/request/query-params.js';
import { contextOf } from '../../platform/http/request/request-context.js';
import { type Reply, reply } from '../../platform/http/reply/replies.js';
import { WaitQuery } from '../executions/executions.dto.js';
import { ClientStream } from './calls/client-stream.js';
import { EarlyRefusal } from './calls/early-refusal.service.js';
import { isAgent, ModelCallsService, providerProblem } from './calls/model-calls.service.js';
import type { ModelRequest } from './calls/model-request.js';
import { ChatDto, ScanDto, type ScanReply } from './llm.dto.js';
import { ModelProviders } from './providers/model-providers.js';
import { runByNobody } from './providers/run-by-nobody.js';
import { isDetected, ScanCallService } from './scan/scan-call.service.js';
import { showScan } from './wire/wire-calls.service.js';


/** The interface's own way to ask models, the same for both families. */
@Injectable()
export class ChatService {
  constructor(
    private readonly calls: ModelCallsService,
    private readonly refusals: EarlyRefusal,
    private readonly providers: ModelProviders,
    private readonly scans: ScanCallService,
  ) {}

  async chat(request: Request, response: Response, caller: Caller): Promise<Reply<unknown>> {
    const asked = await this.refusals.judgedFirst(caller, () => this.read(request, response));
    const done = await this.calls.call(asked, caller);
    switch (done.kind) {
      case 'answered': {
        const { usage } = answerFacts(asked.family, done.answer);
        const piiDetected = isDetected(done.scan);
        const model = [done.answer['model'], asked.body['model']].find((name) => typeof name === 'string') ?? '';
        return reply(200, { content: textOf(asked.family, done.answer), model, usage, piiDetected, piiRedacted: piiDetected });
      }
      case 'asked':
        return reply(done.status, done.body, done.headers);
      case 'failed':
        throw providerProblem(done.performed.failure!);
      case 'streamed':
        throw new Error('a chat was streamed');
    }
  }

  /** As calls of the caller's organization are scanned; for root as its own are. */
  async scan(request: Request, caller: Caller): Promise<ScanReply> {
    recordsNothing();
    const { text } = await this.refusals.judgedFirst(caller, () =>
      readBody(ScanDto, parsedBody(request), { lenient: prefersLenience(request) }));
    if (isAgent(caller)) await this.refusals.judge(caller);
    const { values, text: redactedText } = await this.scans.preview(text, isAgent(caller) ? caller.principal.organizationId : undefined);
    return { detected: values.length > 0, entities: values.map(({ type, value, redacted }) => ({ type, value, redacted })), redactedText };
  }

  private read(request: Request, response: Response): ModelRequest {
    const lenient = prefersLenience(request);
    const dto = readBody(ChatDto, parsedBody(request), { lenient, other: { is: 'query', dto: WaitQuery } });
    const { wait = 0 } = readQuery(WaitQuery, queryOf(request.originalUrl), { lenient, other: { is: 'body', dto: ChatDto } });
    const { model, messages, agentId, scanPii = true, maxTokens } = dto;
    const family = this.providers.forModel(model)?.family;
    if (family === undefined) throw runByNobody();
    const traceparent = contextOf(request)?.traceparent;
    return {
      family, body: chatBody(family, model, messages, maxTokens), scanPii, forAgentId: agentId, wait,
      headers: {
        ...(family === 'anthropic' ? { 'anthropic-version': ANTHROPIC_VERSION } : {}),
        ...(traceparent === undefined ? {} : { traceparent }),
      },
      sink: new ClientStream(response), onScan: (scan) => showScan(response, scan),
    };
  }
}
