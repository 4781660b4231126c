import type { RequestHandler } from 'express';
import { contextOf } from '../../../platform/http/request/request-context.js';
import type { OtherForm } from '../../../platform/http/reply/problem.filter.js';
import { familyOfRoute, vendorError } from './vendor-errors.js';

/** Refusals of routes that a vendor's client calls, the guard's too, have that vendor's form. */
export const vendorForm: OtherForm = (problem, request, requestId) => {
  const family = familyOfRoute(request);
  return family && vendorError(family, problem, requestId);
};

/** Anthropic's client looks for the request's id under this name. */
export const repeatRequestId: RequestHandler = (request, response, next) => {
  const requestId = contextOf(request)?.requestId;
  if (requestId !== undefined) response.setHeader('Request-Id', requestId);
  next();
};
