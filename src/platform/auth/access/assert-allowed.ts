import { ACCESS, type AccessKey, type Permission, reachOf } from '../../../domain/access/access.js';
import { Problem } from '../../http/reply/problem.js';
import { type Caller, kindOf } from './principal.js';

/**
 * Whether the access table lets this caller do what the key names. Asked by the guard, and by routes that are open to everybody and find
 * out themselves who calls.
 *
 * @throws Problem FORBIDDEN
 */
export function assertAllowed(key: AccessKey, caller: Caller): void {
  const { doc, onlyBy }: Permission = ACCESS[key];
  const { principal } = caller;
  const kind = kindOf(principal);
  if (kind === 'system' || reachOf(key, kind) === 'denied') throw new Problem('FORBIDDEN', `${named(caller)} may not ${doc}.`);
  if (onlyBy && principal.kind === 'agent' && principal.credential !== onlyBy.credential) throw new Problem('FORBIDDEN', onlyBy.otherwise);
}

function named({ principal }: Caller): string {
  if (principal.kind === 'user') return `The role ${principal.role}`;
  return principal.kind === 'agent' ? 'An agent' : `This credential (${principal.kind})`;
}
