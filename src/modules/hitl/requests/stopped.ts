import { Problem } from '../../../platform/http/reply/problem.js';

/** A command that a stop does not let through; the request stays as it is, and its clock stands still. */
export interface StopRefusal {
  readonly kind: 'refused';
  readonly code: 'STOPPED';
  readonly stops: readonly { readonly id: string }[];
}

export function stopProblem(stops: StopRefusal['stops']): Problem {
  return new Problem('STOPPED', `A stop holds this agent: ${stops.map(({ id }) => id).join(', ')}.`);
}

/** @throws Problem STOPPED */
export function assertNotStopped({ stops }: { readonly stops: StopRefusal['stops'] }): void {
  if (stops.length > 0) throw stopProblem(stops);
}
