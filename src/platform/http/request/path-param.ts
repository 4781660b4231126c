import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { Request } from 'express';
import { isId, type IdPrefix } from '../../../domain/ids.js';
import { Problem } from '../reply/problem.js';

interface Expected {
  name: string;
  prefix?: IdPrefix;
}

const MAX_LENGTH = 200;
const CONTROLS = /[\u0000-\u001f\u007f]/;

/**
 * One segment of the path, decoded. Ids are opaque to callers, so a text that cannot be one is not malformed: there is
 * simply nothing with that id.
 */
export function readPathParam(value: unknown, { prefix }: Omit<Expected, 'name'>): string {
  if (typeof value !== 'string' || value === '' || value.length > MAX_LENGTH) throw new Problem('NOT_FOUND');
  if (CONTROLS.test(value)) throw new Problem('NOT_FOUND');
  if (prefix !== undefined && !isId(prefix, value)) throw new Problem('NOT_FOUND');
  return value;
}

const parameter = createParamDecorator((expected: Expected, context: ExecutionContext) =>
  readPathParam(context.switchToHttp().getRequest<Request>().params[expected.name], expected),
);

/** A path parameter; with a prefix, 404 for whatever cannot be such an id. */
export function PathParam(name: string, prefix?: IdPrefix): ParameterDecorator {
  return (target, method, index) => {
    const descriptor = Object.getOwnPropertyDescriptor(target, method!)!;
    const example = prefix === undefined ? {} : { example: `${prefix}_…` };
    ApiParam({ name, schema: { type: 'string' }, ...example })(target, method!, descriptor);
    parameter(prefix === undefined ? { name } : { name, prefix })(target, method, index);
  };
}
