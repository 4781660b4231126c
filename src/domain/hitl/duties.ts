/** How strictly an organization parts those who ask from those who approve. */
export const SEPARATIONS = ['standard', 'strict'] as const;
export type SeparationOfDuties = (typeof SEPARATIONS)[number];
