import { type ArgumentsHost, Catch, type ExceptionFilter, SetMetadata } from '@nestjs/common';
import type { Response } from 'express';
import type { JsonValue } from '../../../domain/json.js';
import { Replayed } from '../../database/transaction/idempotency.js';
import { type RequestContext, requestContext } from './request-context.js';

export const OPERATION = 'countersign:operation';

export interface IdempotentOperation {
  readonly name: string;
  /** The key is good for each item of the call, not for the call. */
  readonly isForItems: boolean;
}

/**
 * Declares that a route takes an Idempotency-Key, and the operation that the key is good for: routes that are aliases of
 * one another name the same.
 */
export const Idempotent = (name: string): MethodDecorator =>
  SetMetadata(OPERATION, { name, isForItems: false } satisfies IdempotentOperation);

/**
 * The same for a route whose items take effect one by one: each has a key of its own, made of the call's and of what the item is
 * called. So a repeated call goes on where the first one broke off. The handler runs each item by `asItem`.
 */
export const IdempotentItems = (name: string): MethodDecorator =>
  SetMetadata(OPERATION, { name, isForItems: true } satisfies IdempotentOperation);

/** Runs one item of the present call under the item's own key, where the call brought one. */
export async function asItem<Result>(item: string, content: JsonValue, work: () => Promise<Result>): Promise<Result> {
  const call = requestContext.getStore()!;
  const key = call.itemKey?.(item, content);
  const own: RequestContext = { ...call, recorded: 0, ...(key ? { idempotency: key } : {}) };
  let failed = true;
  try {
    const result = await requestContext.run(own, work);
    failed = false;
    return result;
  } finally {
    call.recorded += own.recorded;
    if (failed || own.recordsNothing) call.recordsNothing = true;
  }
}

/** Answers a call that was answered before with that answer. */
@Catch(Replayed)
export class ReplayFilter implements ExceptionFilter<Replayed> {
  catch({ answer }: Replayed, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    response.status(answer.status).setHeader('Idempotent-Replayed', 'true');
    if (answer.body === undefined) response.end();
    else response.json(answer.body);
  }
}
