import type { Actor, RankRefusal } from '../../../domain/access/rank.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { Problem } from '../../../platform/http/reply/problem.js';

const WORDS: Readonly<Record<RankRefusal, string>> = {
  above_own: 'Nobody changes an account of a role above their own.',
  own_role: 'Nobody changes their own role.',
  gives_above_own: 'Nobody gives a role above their own.',
  not_own_keys: "Only administrators see and revoke another's personal keys.",
  key_of_another: 'People make personal keys for themselves only; for another, root does.',
};

/**
 * The caller as the rank rules know them: the role of this moment, which the unit of work compares again under its locks.
 *
 * @throws Problem FORBIDDEN for who is neither root nor a person
 */
export function actorOf({ principal }: Caller): Actor {
  if (principal.kind === 'root') return { kind: 'root' };
  if (principal.kind === 'user') return { kind: 'user', userId: principal.userId, role: principal.role };
  throw new Problem('FORBIDDEN', 'Only people and root change people.');
}

/** @throws Problem FORBIDDEN when the rules refuse */
export function assertRank(refusal: RankRefusal | undefined): void {
  if (refusal !== undefined) throw new Problem('FORBIDDEN', WORDS[refusal]);
}
