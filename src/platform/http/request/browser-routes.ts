import { applyDecorators, type ExecutionContext, SetMetadata } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import { ApiBody, ApiConsumes, ApiResponse } from '@nestjs/swagger';
import type { Response } from 'express';
import { requestContext } from './request-context.js';

const FORM = 'countersign:form';
const PAGE = 'countersign:page';
const SAME_SITE = 'countersign:same-site';

/** Declares that the body is a browser's form (`formFields`) instead of JSON. The handler looks at the form's token. */
export const FormRoute = (): MethodDecorator => applyDecorators(
  SetMetadata(FORM, true), ApiConsumes('application/x-www-form-urlencoded'),
  ApiBody({
    required: false,
    schema: { type: 'object', additionalProperties: { type: 'string' }, description: 'The fields of the form, each once.' },
  }),
);

/** Declares that people see the answer in a browser: refusals are pages too, and the origin of entries is `page`. */
export const PageRoute = (): MethodDecorator => applyDecorators(
  SetMetadata(PAGE, true),
  ApiResponse({
    status: 'default', description: 'A page, where the browser takes one: what was asked for, or what is wrong.',
    content: {
      'text/html': { schema: { type: 'string' } }, 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
    },
  }),
);

/** Declares that a route that is open to everybody takes calls of our own pages only, as a route that signs people in must. */
export const SameSiteRoute = (): MethodDecorator => SetMetadata(SAME_SITE, true);

const isMarked = (mark: string) => (reflector: Reflector, context: ExecutionContext): boolean =>
  reflector.get<boolean | undefined>(mark, context.getHandler()) === true;

export const isFormRoute = isMarked(FORM);
export const isSameSiteRoute = isMarked(SAME_SITE);
const isPageRoute = isMarked(PAGE);

export const takesOwnPagesOnly = (handler: object): boolean => Reflect.getMetadata(SAME_SITE, handler) === true;

/** Pages and forms, callbacks among them: others put into these what they like, so what is not known is ignored. */
export function isForBrowsers(handler: object): boolean {
  return Reflect.getMetadata(PAGE, handler) === true || Reflect.getMetadata(FORM, handler) === true;
}

/**
 * Marks a call of a page as one, before anything can be refused. Its forms need an origin:
 * under `no-referrer` browsers send `Origin: null` with them (Fetch Standard, section 3.2).
 */
export function openPage(reflector: Reflector, context: ExecutionContext): void {
  if (!isPageRoute(reflector, context)) return;
  const store = requestContext.getStore();
  if (store) store.via = 'page';
  context.switchToHttp().getResponse<Response>().setHeader('Referrer-Policy', 'same-origin');
}
