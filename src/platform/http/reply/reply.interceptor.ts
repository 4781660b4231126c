import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { catchError, map, type Observable, throwError } from 'rxjs';
import { Problem } from './problem.js';
import { declaredReplies, mayAnswer, Reply } from './replies.js';

/**
 * Gives each answer its status and headers. With `strict` (the test suites set COUNTERSIGN_STRICT_REPLIES=1) an answer
 * that the route does not declare becomes a 500 that names it, so that declarations, and the documentation made from
 * them, cannot fall behind the code.
 */
export class ReplyInterceptor implements NestInterceptor {
  constructor(private readonly strict: boolean) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const handler = context.getHandler();
    const response = context.switchToHttp().getResponse<Response>();
    const answers = next.handle().pipe(map((result: unknown) => this.apply(result, handler, response)));
    return this.strict ? answers.pipe(catchError((error: unknown) => throwError(() => declaredOr500(error, handler)))) : answers;
  }

  private apply(result: unknown, handler: object, response: Response): unknown {
    const declared = declaredReplies(handler);
    if (!(result instanceof Reply)) {
      // A handler that declares nothing answers by itself (a stream, a page); Nest's own status stands.
      if (declared !== undefined) response.status(declared.statuses[0]!);
      return result;
    }
    if (this.strict && !(declared?.statuses.includes(result.status) ?? false)) {
      throw new Problem('INTERNAL', `${nameOf(handler)} answered ${result.status}, which its @Replies does not declare.`);
    }
    response.status(result.status);
    for (const [name, value] of Object.entries(result.headers)) response.setHeader(name, value);
    return result.body;
  }
}

function declaredOr500(error: unknown, handler: object): unknown {
  if (!(error instanceof Problem) || mayAnswer(handler, error.code)) return error;
  return new Problem('INTERNAL', `${nameOf(handler)} answered ${error.code}, which its @Replies does not declare.`);
}

function nameOf(handler: object): string {
  return (handler as { name?: string }).name ?? 'A handler';
}
