import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import type { Request } from 'express';
import { parsedBody } from './body-reader.js';
import { fieldsOf, type DtoClass } from '../fields/field-spec.js';
import { readBody } from '../fields/read-members.js';

const body = createParamDecorator((dto: DtoClass, context: ExecutionContext) =>
  readBody(dto, parsedBody(context.switchToHttp().getRequest<Request>())),
);

/** The request's body, read strictly and checked member by member. Documents it too. */
export function JsonBody(dto: DtoClass): ParameterDecorator {
  return (target, method, index) => {
    const required = fieldsOf(dto).some((field) => !field.optional);
    const descriptor = Object.getOwnPropertyDescriptor(target, method!)!;
    ApiBody({ type: dto, required })(target, method!, descriptor);
    body(dto)(target, method, index);
  };
}
