/** How long people have to decide when the grant does not say: 30 minutes (interface, section 3). */
export const DEFAULT_WINDOW_SECONDS = 1_800;
