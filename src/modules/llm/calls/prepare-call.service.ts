import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { callDigest, estimateTokens, type ModelCall, readModelCall } from '../../../domain/llm/model-call.js';
import type { JsonObject } from '../../../domain/json.js';
import { invalid } from '../../../platform/http/fields/read-members.js';
import { ModelProviders } from '../providers/model-providers.js';
import { ScanCallService, type ScannedCallBody } from '../scan/scan-call.service.js';
import type { WaitingCall } from './llm.runtime.js';
import { runByNobody } from '../providers/run-by-nobody.js';
import type { ModelRequest } from './model-request.js';

/** A call that has been read and scanned, and of which nothing has left. */
export interface PreparedCall {
  readonly call: ModelCall;
  /** What the gate decides over. */
  readonly input: JsonObject;
  /** The call as it would leave. */
  readonly body: JsonObject;
  readonly scan: ScannedCallBody;
  readonly waiting: WaitingCall;
}

/** Reads and scans calls. */
@Injectable()
export class PrepareCallService {
  constructor(
    private readonly providers: ModelProviders,
    private readonly scans: ScanCallService,
  ) {}

  /**
   * @param organizationId whose settings hold; none for root's own calls
   * @throws Problem VALIDATION_FAILED, PII_SCAN_REQUIRED, UNAVAILABLE: nothing has begun
   */
  async prepare(request: ModelRequest, organizationId: string | undefined): Promise<PreparedCall> {
    const { family, headers, sink } = request;
    const read = readModelCall(family, request.body);
    if ('errors' in read) throw invalid([...read.errors]);
    const { call } = read;
    const provider = this.providers.forModel(call.model);
    if (!provider) throw runByNobody();
    if (provider.family !== family) {
      const where = provider.family === 'openai' ? '/api/v1/llm/chat/completions' : '/api/v1/llm/messages';
      throw invalid([{ pointer: '/model', message: `is of the other family: its format is that of POST ${where}` }]);
    }
    const scan = await this.scans.scan(request.body, family, request.scanPii, organizationId);
    request.onScan(scan);
    const { value: body } = scan;
    // The log has the model's name.
    if (!scan.isBlocked && body['model'] !== call.model) throw invalid([{ pointer: '/model', message: 'holds personal data' }]);
    const tokens = estimateTokens(body);
    const nonce = randomBytes(16).toString('base64url');
    const { model, maxTokens, stream, tools, wantsUsage } = call;
    const digest = callDigest(nonce, scan.body);
    const pii = Object.keys(scan.counts).sort();
    const outgoing = {
      family, model, body, headers, wantsUsage, tokens: scan.tokens, settings: scan.settings, ...(stream ? { sink } : { gone: sink.gone }),
    };
    return {
      call, body, scan, waiting: { outgoing, facts: { digest, promptTokens: tokens, scan } },
      // Whoever approves sees that nobody has looked for personal data, and so do conditions.
      input: {
        model, provider: provider.name, tokens, maxTokens, stream, tools, pii, digest, nonce, ...(scan.isSkipped ? { scanSkipped: true } : {}),
      },
    };
  }
}
