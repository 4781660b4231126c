/** What a stop holds: one agent, all agents of an organization, or every agent there is. */
export const STOP_SCOPES = ['agent', 'organization', 'all'] as const;
export type StopScope = (typeof STOP_SCOPES)[number];

/** Who may make a stop, weakest first; the row keeps as what its maker made it. */
export const STOP_ROLES = ['admin', 'owner', 'root'] as const;
export type StopRole = (typeof STOP_ROLES)[number];

/**
 * A stop is lifted by whoever made it, or by a higher role than it was made by: an admin cannot resume what an owner has
 * stopped, nor one admin what another has.
 */
export function mayLift(stop: { madeBy: string; madeByRole: StopRole }, by: { actorId: string; role: StopRole }): boolean {
  return stop.madeBy === by.actorId || STOP_ROLES.indexOf(by.role) > STOP_ROLES.indexOf(stop.madeByRole);
}
