import { NotFoundException } from '@nestjs/common';
import type { Request } from 'express';
import { Problem } from './problem.js';

/** What Express keeps of each route. */
interface Layer {
  readonly route?: { readonly methods: Readonly<Record<string, boolean>> };
  match(path: string): boolean;
}

/** Answered as the framework answers them, whatever there is. */
const LEFT_ALONE: ReadonlySet<string> = new Set(['HEAD', 'OPTIONS']);
const PREFIX = '/api/v1';

/**
 * What a call that no route took is told, where more can be said than that nothing was found: that its path takes other methods
 * (RFC 9110, section 15.5.6), that it lacks the API's prefix, or an id.
 */
export function unmatched(error: unknown, request: Request): Problem | undefined {
  if (!(error instanceof NotFoundException) || LEFT_ALONE.has(request.method)) return undefined;
  const { path, method } = request;
  const methods = methodsAt(request, path);
  if (methods.length > 0) {
    const allowed = methods.join(', ');
    return new Problem('METHOD_NOT_ALLOWED', `${method} is not for this path: it takes ${allowed}.`, { headers: { Allow: allowed } });
  }
  if (path.includes('//')) return new Problem('NOT_FOUND', 'There is no such route: an id is missing between two slashes of the path.');
  if (methodsAt(request, `${PREFIX}${path}`).length > 0) {
    return new Problem('NOT_FOUND', `There is no such route. The API's paths begin with ${PREFIX}.`);
  }
  return undefined;
}

/** A path that cannot be decoded is nobody's. */
function takes(layer: Layer, path: string): boolean {
  try {
    return layer.match(path);
  } catch {
    return false;
  }
}

function methodsAt({ app }: Request, path: string): string[] {
  const { stack } = (app as unknown as { router: { stack: readonly Layer[] } }).router;
  const methods = new Set<string>();
  for (const layer of stack) {
    if (layer.route === undefined || !takes(layer, path)) continue;
    for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}
