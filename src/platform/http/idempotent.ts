import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { type Observable, catchError, of } from 'rxjs';
import { type AuthenticatedRequest, callerOf } from '../auth/access.decorator.js';
import { recordsNothing } from '../auth/call-context.js';
import { IdempotencyKeys, Replayed } from '../database/idempotency.js';
import { parsedBody } from './body-reader.js';
import { reply } from './replies.js';
import { requestContext } from './request-context.js';

const OPERATION = 'countersign:operation';

/**
 * Declares that a route takes an Idempotency-Key, and the operation that the key is good for: routes that are aliases of
 * one another name the same.
 */
export const Idempotent = (operation: string): MethodDecorator => SetMetadata(OPERATION, operation);

/** Reads the key before the handler, and turns the news that the call was answered before into that answer. */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly keys: IdempotencyKeys,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const key = request.headers['idempotency-key'];
    const operation = key === undefined ? undefined : this.reflector.get<string | undefined>(OPERATION, context.getHandler());
    if (operation === undefined) return next.handle();
    const caller = callerOf(request);
    const parameters = request.params as Record<string, string>;
    requestContext.getStore()!.idempotency = this.keys.claimFor(caller, String(key), operation, parameters, parsedBody(request));
    return next.handle().pipe(
      catchError((error: unknown) => {
        if (!(error instanceof Replayed)) throw error;
        recordsNothing();
        return of(reply(error.answer.status, error.answer.body, { 'Idempotent-Replayed': 'true' }));
      }),
    );
  }
}
