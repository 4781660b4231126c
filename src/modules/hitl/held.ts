import { Problem } from '../../platform/http/problem.js';

/** A command that a stop does not let through; the request stays as it is, and its clock stands still. */
export interface Held {
  readonly kind: 'refused';
  readonly code: 'STOPPED';
  readonly stops: readonly { readonly id: string }[];
}

export function stopped(stops: Held['stops']): Problem {
  return new Problem('STOPPED', `A stop holds this agent: ${stops.map(({ id }) => id).join(', ')}.`);
}

/** @throws Problem STOPPED */
export function assertNotStopped({ stops }: { readonly stops: Held['stops'] }): void {
  if (stops.length > 0) throw stopped(stops);
}
