import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { PROBLEMS } from '../../../domain/problems.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { problemFrom } from '../../../platform/http/reply/failure.js';
import { asItem } from '../../../platform/http/request/idempotent.js';
import type { Problem } from '../../../platform/http/reply/problem.js';
import { LOGGER } from '../../../platform/logging/token.js';
import type { BatchDto, BatchItemDto, BatchResultReply } from './decide-batch.dto.js';
import { HitlService } from '../hitl.service.js';
import type { FormQuery } from '../hitl.dto.js';
import type { RequestReply, RequestSnakeReply } from '../hitl.replies.js';
import type { RequestSummary } from '../requests/refusals.js';

/** Each holds a connection while it decides; the rest of the pool is for others. */
const AT_ONCE = 4;

/** Decides many requests, each as if alone: in a unit of work of its own, and whatever becomes of the others. */
@Injectable()
export class DecideBatchService {
  constructor(
    private readonly hitl: HitlService,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** An item that comes twice is decided once, and answered the same twice; with another digest it is another item. */
  async decide(batch: BatchDto, form: FormQuery['form'], caller: Caller): Promise<{ results: BatchResultReply[] }> {
    const ofEach = new Map<string, Map<string, BatchItemDto>>();
    for (const item of batch.items) ofEach.set(item.id, (ofEach.get(item.id) ?? new Map<string, BatchItemDto>()).set(keyOf(item), item));
    const answers = new Map<string, BatchResultReply>();
    const waiting = ofEach.values();
    const decideOn = async () => {
      // Of one request in their order.
      for (const items of waiting) {
        for (const [key, item] of items) answers.set(key, await this.decideOne(item, batch, form, caller));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, decideOn));
    return { results: batch.items.map((item) => answers.get(keyOf(item))!) };
  }

  private async decideOne(item: BatchItemDto, batch: BatchDto, form: FormQuery['form'], caller: Caller): Promise<BatchResultReply> {
    const { id, expectedDigest } = item;
    const { decision, note } = batch;
    const wanted = {
      inBatch: true,
      ...(note === undefined ? {} : { note }),
      ...(expectedDigest === undefined ? {} : { expectedDigest }),
    } as const;
    try {
      const { status, body } = await asItem(keyOf(item), { decision, ...wanted }, () =>
        decision === 'approve'
          ? this.hitl.approve(id, wanted, { wait: 0, ...(form ? { form } : {}) }, caller)
          : this.hitl.reject(id, wanted, form ? { form } : {}, caller));
      return { id, status, request: body.request as RequestReply | RequestSnakeReply };
    } catch (error) {
      const problem = problemFrom(error);
      if (problem.status >= 500) {
        const level = problem.code === 'INTERNAL' ? 'error' : 'warn';
        this.logger[level]({ err: error, hitlRequestId: id, code: problem.code }, 'an item of a batch failed');
      }
      return { id, status: problem.status, error: errorOf(problem) };
    }
  }
}

function keyOf({ id, expectedDigest }: BatchItemDto): string {
  return expectedDigest === undefined ? id : `${id} ${expectedDigest}`;
}

function errorOf({ code, detail, extras }: Problem) {
  const { title } = PROBLEMS[code];
  const request = extras.members?.['request'];
  return { code, title, detail: detail ?? title, ...(request === undefined ? {} : { request: request as unknown as RequestSummary }) };
}
