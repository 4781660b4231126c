import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import { ACCESS, type AccessKey, type Permission } from '../../domain/access/access.js';
import { ACCESS_KEY } from '../auth/access.decorator.js';
import { parsedBody } from './body-reader.js';

const WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Reads the body of every call that may carry one, also where the route takes no member of it: what is malformed is
 * refused everywhere alike. Hot routes read theirs themselves, once they know that the caller still counts.
 */
@Injectable()
export class BodyInterceptor implements NestInterceptor {
  constructor(private readonly reflector: Reflector) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<Request>();
    const key = this.reflector.get<AccessKey | undefined>(ACCESS_KEY, context.getHandler());
    const permission: Permission | undefined = key && ACCESS[key];
    if (!WITHOUT_BODY.has(request.method) && permission?.hot !== true) parsedBody(request);
    return next.handle();
  }
}
