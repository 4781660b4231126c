/** A migration that cannot be undone, now or ever. The message says what would be lost. */
export class NoWayBack extends Error {}
