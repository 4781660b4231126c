import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Response } from 'express';
import type { JsonValue } from '../../../domain/json.js';
import { ACCESS, type AccessKey, type Permission } from '../../../domain/access/access.js';
import { ACCESS_KEY, type AuthenticatedRequest, callerOf } from '../../auth/access/access.decorator.js';
import { CallerCheck } from '../../auth/credentials/caller-check.js';
import { IdempotencyKeys } from '../../database/transaction/idempotency.js';
import { readBody } from '../fields/read-members.js';
import { parsedBody } from './body-reader.js';
import { isForBrowsers, isFormRoute } from './browser-routes.js';
import { inputOf } from './declared-input.js';
import { type IdempotentOperation, OPERATION } from './idempotent.js';
import { PREFERS_LENIENCE, prefersLenience } from './prefer.js';
import { queryOf, readQuery } from './query-params.js';
import { requestContext } from './request-context.js';

const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** What a handler without a query, or without a body, takes of it. */
class Nothing {}

/**
 * Stands behind the access guard and sees to what every call brings along, whatever its handler takes of it: a body that
 * can be read, nothing that nobody reads, and an Idempotency-Key. A guard and not an interceptor: those cost the hot path ten times
 * as much.
 */
@Injectable()
export class CallGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly keys: IdempotencyKeys,
    private readonly callers: CallerCheck,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<never> {
    try {
      return this.admit(context);
    } catch (error) {
      if (this.isHot(context.getHandler())) return this.judgedFirst(context, error);
      throw error;
    }
  }

  /** The commit would have judged this caller, and never sees the call. */
  private async judgedFirst(context: ExecutionContext, refusal: unknown): Promise<never> {
    await this.callers.judge(callerOf(context.switchToHttp().getRequest<AuthenticatedRequest>()));
    throw refusal;
  }

  private isHot(handler: ReturnType<ExecutionContext['getHandler']>): boolean {
    const key = this.reflector.get<AccessKey | undefined>(ACCESS_KEY, handler);
    const permission: Permission | undefined = key && ACCESS[key];
    return permission?.hot === true;
  }

  private admit(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const handler = context.getHandler();
    if (prefersLenience(request)) {
      context.switchToHttp().getResponse<Response>().setHeader('Preference-Applied', PREFERS_LENIENCE);
    } else this.refuseUnread(request, handler);
    if (WITHOUT_BODY.has(request.method) || isFormRoute(this.reflector, context)) return true;
    // Hot routes read their body themselves, once they know that the caller still counts.
    if (!this.isHot(handler)) parsedBody(request);
    this.claimKey(request, handler);
    return true;
  }

  /** What a handler does not read cannot be obeyed: a narrowing would give everything away, and a wish would not be granted. */
  private refuseUnread(request: AuthenticatedRequest, handler: object): void {
    const { body, query } = inputOf(handler);
    const isRead = body !== undefined && query !== undefined;
    if (isRead || isForBrowsers(handler)) return;
    if (query === undefined) readQuery(Nothing, queryOf(request.originalUrl), { other: { is: 'body', dto: body } });
    if (body !== undefined) return;
    const sent = parsedBody(request);
    if (sent !== null) readBody(Nothing, sent, { other: { is: 'query', dto: query } });
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
