import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiBody } from '@nestjs/swagger';
import type { Request } from 'express';
import { parsedBody } from './body-reader.js';
import { declareInput, inputOf } from './declared-input.js';
import { prefersLenience } from './prefer.js';
import { fieldsOf, type DtoClass } from '../fields/field-spec.js';
import { readBody } from '../fields/read-members.js';

const body = createParamDecorator((dto: DtoClass, context: ExecutionContext) => {
  const request = context.switchToHttp().getRequest<Request>();
  const other = { is: 'query', dto: inputOf(context.getHandler()).query } as const;
  return readBody(dto, parsedBody(request), { lenient: prefersLenience(request), other });
});

/** The request's body, read strictly and checked member by member. Documents it too. */
export function JsonBody(dto: DtoClass): ParameterDecorator {
  return (target, method, index) => {
    ReadsBody(dto)(target, method!, Object.getOwnPropertyDescriptor(target, method!)!);
    body(dto)(target, method, index);
  };
}

/** Declares and documents the body of a handler that reads it by itself, and refuses what the DTO does not know. */
export function ReadsBody(dto: DtoClass): MethodDecorator {
  return (target, method, descriptor) => {
    const required = fieldsOf(dto).some((field) => !field.optional);
    ApiBody({ type: dto, required })(target, method, descriptor);
    declareInput(target, method, { body: dto });
  };
}
