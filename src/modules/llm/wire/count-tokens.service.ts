import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { recordsNothing } from '../../../platform/auth/access/call-context.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { contextOf } from '../../../platform/http/request/request-context.js';
import { Deadline } from '../../gate/runtimes/deadline.js';
import { Cancellation } from '../calls/cancellation.js';
import { ClientStream } from '../calls/client-stream.js';
import { EarlyRefusal, piiBlocked } from '../calls/early-refusal.service.js';
import { ModelCallsService, providerProblem } from '../calls/model-calls.service.js';
import { readWhole } from '../providers/answer-body.js';
import { askProvider } from '../providers/ask-provider.js';
import { ModelProviders } from '../providers/model-providers.js';
import { AnswerBroken } from '../providers/provider-failure.js';
import { passedError } from './vendor-errors.js';
import { send, showScan } from './wire-calls.service.js';
import { wireOptions } from './wire-options.js';

const COUNT_BYTES_MAX = 64 * 1024;

/** Counts of tokens, which the provider makes of the scanned call. */
@Injectable()
export class CountTokensService {
  constructor(
    private readonly calls: ModelCallsService,
    private readonly refusals: EarlyRefusal,
    private readonly providers: ModelProviders,
  ) {}

  /** @throws Problem */
  async count(request: Request, response: Response, caller: Caller): Promise<void> {
    recordsNothing();
    const sink = new ClientStream(response);
    const options = await this.refusals.judgedFirst(caller, () => wireOptions(request));
    const asked = { family: 'anthropic' as const, ...options, sink, onScan: () => undefined };
    const { call: { model }, body, scan } = await this.calls.scanned(asked, caller);
    showScan(response, scan);
    if (scan.isBlocked) throw piiBlocked(scan);
    const deadline = Deadline.in(this.providers.timeoutSeconds * 1_000);
    const cancellation = new Cancellation(deadline, undefined, sink.gone);
    try {
      const answer = await askProvider(this.providers.forModel(model)!, {
        method: 'POST', path: '/v1/messages/count_tokens', body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...options.headers }, signal: cancellation.signal, deadline,
        settings: scan.settings,
      });
      if (answer.kind === 'answered') return send(response, 200, await readWhole(answer.response.body, COUNT_BYTES_MAX));
      const { failure } = answer;
      if (failure.status === undefined || !failure.refusal) throw providerProblem(failure);
      send(response, failure.status, passedError('anthropic', failure.refusal, contextOf(request)?.requestId));
    } catch (error) {
      throw error instanceof AnswerBroken ? providerProblem(error.failure) : error;
    } finally {
      cancellation.close();
    }
  }
}
