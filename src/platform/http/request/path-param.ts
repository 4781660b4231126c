import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { Request } from 'express';
import { ID_NAMES, isId, type IdPrefix } from '../../../domain/ids.js';
import { Problem } from '../reply/problem.js';
import { truncatedName } from './json-pointer.js';

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
  if (prefix !== undefined && !isId(prefix, value)) throw new Problem('NOT_FOUND', whyNoId(value, prefix));
  return value;
}

/** Says what stands there instead, where its form tells: ids of several things are taken for one another. */
function whyNoId(value: string, prefix: IdPrefix): string {
  const other = /^([a-z]+)_/.exec(value)?.[1] as IdPrefix | undefined;
  const what = other !== undefined && Object.hasOwn(ID_NAMES, other) && other !== prefix ? `the id of ${ID_NAMES[other]}` : 'no id';
  return `"${truncatedName(value)}" is ${what}: here stands the id of ${ID_NAMES[prefix]}, which begins with ${prefix}_.`;
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
