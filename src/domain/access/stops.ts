/** What a stop concerns: one agent, all agents of an organization, or every agent. */
export const STOP_SCOPES = ['agent', 'organization', 'all'] as const;
export type StopScope = (typeof STOP_SCOPES)[number];

/** The roles that may make a stop, weakest first; a stop's row keeps the role of its maker. */
export const STOP_ROLES = ['admin', 'owner', 'root'] as const;
export type StopRole = (typeof STOP_ROLES)[number];

/**
 * A stop is lifted by its maker, or by a higher role than its maker's: an admin cannot lift an owner's stop, nor one admin another's.
 */
export function mayLift(stop: { madeBy: string; madeByRole: StopRole }, by: { actorId: string; role: StopRole }): boolean {
  return stop.madeBy === by.actorId || STOP_ROLES.indexOf(by.role) > STOP_ROLES.indexOf(stop.madeByRole);
}
