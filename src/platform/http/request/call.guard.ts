import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { JsonValue } from '../../../domain/json.js';
import { ACCESS, type AccessKey, type Permission } from '../../../domain/access/access.js';
import { ACCESS_KEY, type AuthenticatedRequest, callerOf } from '../../auth/access/access.decorator.js';
import { IdempotencyKeys } from '../../database/transaction/idempotency.js';
import { parsedBody } from './body-reader.js';
import { isFormRoute } from './browser-routes.js';
import { type IdempotentOperation, OPERATION } from './idempotent.js';
import { requestContext } from './request-context.js';

const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Stands behind the access guard and sees to what every call brings along, whatever its handler takes of it: a body that
 * can be read, and an Idempotency-Key. A guard and not an interceptor: those cost the hot path ten times as much.
 */
@Injectable()
export class CallGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly keys: IdempotencyKeys,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    if (WITHOUT_BODY.has(request.method)) return true;
    const handler = context.getHandler();
    if (isFormRoute(this.reflector, context)) return true;
    // Hot routes read their body themselves, once they know that the caller still counts.
    const key = this.reflector.get<AccessKey | undefined>(ACCESS_KEY, handler);
    const permission: Permission | undefined = key && ACCESS[key];
    if (permission?.hot !== true) parsedBody(request);
    this.claimKey(request, handler);
    return true;
  }

  private claimKey(request: AuthenticatedRequest, handler: ReturnType<ExecutionContext['getHandler']>): void {
    const key = request.headers['idempotency-key'];
    const operation = key === undefined ? undefined : this.reflector.get<IdempotentOperation | undefined>(OPERATION, handler);
    if (operation === undefined) return;
    const parameters = request.params as Record<string, string>;
    const context = requestContext.getStore()!;
    const claim = (item: Record<string, string>, content: JsonValue) =>
      this.keys.claimFor(callerOf(request), String(key), operation.name, { ...parameters, ...item }, content);
    // Made here in any case: a key that cannot be one is refused before anything takes effect.
    const claimed = claim({}, parsedBody(request));
    if (operation.isForItems) context.itemKey = (item, content) => claim({ item }, content);
    else context.idempotency = claimed;
  }
}
