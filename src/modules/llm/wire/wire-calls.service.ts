import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Family } from '../../../domain/llm/family.js';
import type { JsonObject } from '../../../domain/json.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { problemFrom } from '../../../platform/http/reply/failure.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { contextOf } from '../../../platform/http/request/request-context.js';
import { ClientStream } from '../calls/client-stream.js';
import { EarlyRefusal } from '../calls/early-refusal.service.js';
import { ModelCallsService, providerProblem } from '../calls/model-calls.service.js';
import { type ModelReply, NO_RETRY } from '../calls/model-request.js';
import type { ProviderFailure } from '../providers/provider-failure.js';
import { isDetected, type ScannedCallBody } from '../scan/scan-call.service.js';
import { errorEvent, passedError } from './vendor-errors.js';
import { wireOptions } from './wire-options.js';

/** Answers vendors' clients in their own format, streams included. */
@Injectable()
export class WireCallsService {
  constructor(
    private readonly calls: ModelCallsService,
    private readonly refusals: EarlyRefusal,
  ) {}

  /** @throws Problem while nothing has gone out */
  async complete(request: Request, response: Response, family: Family, caller: Caller): Promise<void> {
    const sink = new ClientStream(response);
    const requestId = contextOf(request)?.requestId;
    try {
      const options = await this.refusals.judgedFirst(caller, () => wireOptions(request));
      const reply = await this.calls.call({ family, ...options, sink, onScan: (scan) => showScan(response, scan) }, caller);
      if (reply.kind === 'streamed') sink.end(reply.ending);
      else if (reply.kind === 'failed') failed(response, family, reply.performed.failure!, requestId);
      else send(response, 200, answerIn(reply, options.body['stream'] === true));
    } catch (error) {
      if (!response.headersSent) throw error;
      sink.end(errorEvent(family, problemFrom(error), requestId));
    }
  }
}

/** Clients take a status below 300 for a completion. */
function answerIn(reply: Extract<ModelReply, { kind: 'answered' | 'asked' }>, isStream: boolean): JsonObject {
  if (reply.kind === 'answered') {
    if (!isStream) return reply.answer;
    throw new Problem('CONFLICT', 'The answer of this call is kept whole: ask for it without a stream.', { headers: NO_RETRY });
  }
  const { executionId, hitlRequestId, expiresAt, status: _, ...rest } = reply.body;
  const detail = 'A person has to decide first: GET /api/v1/executions/:id has the answer, and with ?wait= the call is held.';
  const members = { executionId: executionId ?? null, hitlRequestId: hitlRequestId ?? null, expiresAt: expiresAt ?? null, ...rest };
  throw new Problem('HITL_PENDING', detail, { members, headers: { ...NO_RETRY, ...reply.headers } });
}

/** @throws Problem where nothing of a stream has gone out */
function failed(response: Response, family: Family, failure: ProviderFailure, requestId: string | undefined): void {
  // Nobody is there any more.
  if (failure.code === 'CLIENT_CLOSED') return void response.destroy();
  const { status, refusal } = failure;
  if (status !== undefined && refusal && !response.headersSent) return send(response, status, passedError(family, refusal, requestId));
  throw providerProblem(failure);
}

export function showScan(response: Response, scan: ScannedCallBody): void {
  const detected = isDetected(scan);
  response.setHeader('X-Pii-Detected', String(detected));
  response.setHeader('X-Pii-Redacted', String(detected && !scan.isBlocked));
}

export function send(response: Response, status: number, body: JsonObject): void {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8', 'Content-Length': bytes.length, 'Cache-Control': 'no-store',
  });
  response.end(bytes);
}
