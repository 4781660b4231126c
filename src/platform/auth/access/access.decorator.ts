import { type ExecutionContext, SetMetadata, createParamDecorator } from '@nestjs/common';
import type { Request } from 'express';
import type { AccessKey } from '../../../domain/access/access.js';
import { Problem } from '../../http/reply/problem.js';
import type { Caller as VerifiedCaller } from './principal.js';

export const ACCESS_KEY = 'countersign:access';

/** Declares who may call a route: a key of the one access table. A route without it stops the start. */
export const Access = (key: AccessKey): MethodDecorator => SetMetadata(ACCESS_KEY, key);

export interface AuthenticatedRequest extends Request {
  caller?: VerifiedCaller;
}

export function callerOf(request: AuthenticatedRequest): VerifiedCaller {
  if (!request.caller) throw new Problem('UNAUTHENTICATED');
  return request.caller;
}

/** The verified caller of this request, with the scope of what it may see. */
export const Caller = createParamDecorator((_: unknown, context: ExecutionContext) =>
  callerOf(context.switchToHttp().getRequest<AuthenticatedRequest>()),
);
