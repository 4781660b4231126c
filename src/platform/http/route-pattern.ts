import type { Request } from 'express';

/** The pattern of a request's route, once that is found: paths hold ids, and there is no end of them. */
export function routePattern({ route }: Request): string | undefined {
  const path = (route as { path?: unknown } | undefined)?.path;
  return typeof path === 'string' ? path : undefined;
}
