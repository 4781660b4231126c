import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { Request } from 'express';
import { map, type Observable } from 'rxjs';
import { Problem } from './problem.js';
import { requestContext } from '../request/request-context.js';

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * For the test suites (COUNTERSIGN_STRICT_REPLIES=1): a changing call that succeeds has left an audit entry, or its
 * handler has said why it leaves none. Otherwise it becomes a 500, so that no route can change something in silence.
 */
export class RecordedInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (READS.has(context.switchToHttp().getRequest<Request>().method)) return next.handle();
    return next.handle().pipe(
      map((result: unknown) => {
        const { recorded = 0, recordsNothing = false } = requestContext.getStore() ?? {};
        if (recorded > 0 || recordsNothing) return result;
        throw new Problem('INTERNAL', `${context.getHandler().name} changed something and recorded nothing.`);
      }),
    );
  }
}
