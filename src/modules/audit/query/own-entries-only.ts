import { reachOf, type AccessKey } from '../../../domain/access/access.js';
import { type Caller, kindOf } from '../../../platform/auth/access/principal.js';

/** Members read what they did and what is about them: whom a caller is narrowed to under this key, if anybody. */
export function onlyOf(key: AccessKey, { principal, actorId }: Caller): string | undefined {
  const kind = kindOf(principal);
  return kind !== 'system' && reachOf(key, kind) === 'own' ? actorId : undefined;
}
