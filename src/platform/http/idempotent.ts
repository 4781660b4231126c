import { type ArgumentsHost, Catch, type ExceptionFilter, SetMetadata } from '@nestjs/common';
import type { Response } from 'express';
import { Replayed } from '../database/idempotency.js';

export const OPERATION = 'countersign:operation';

/**
 * Declares that a route takes an Idempotency-Key, and the operation that the key is good for: routes that are aliases of
 * one another name the same.
 */
export const Idempotent = (operation: string): MethodDecorator => SetMetadata(OPERATION, operation);

/** Turns the news that a call was answered before into that answer. */
@Catch(Replayed)
export class ReplayFilter implements ExceptionFilter<Replayed> {
  catch({ answer }: Replayed, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<Response>();
    response.status(answer.status).setHeader('Idempotent-Replayed', 'true');
    if (answer.body === undefined) response.end();
    else response.json(answer.body);
  }
}
