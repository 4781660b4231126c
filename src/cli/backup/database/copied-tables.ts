/**
 * `migrations` is made anew by running them. `hitl_events` repeats for a day what clients missed, in the order of the transaction numbers
 * of the database that it was written in, which another one does not go on from.
 */
export const LEFT_OUT = ['migrations', 'hitl_events'];

/** Whatever the role or the database prefers, values are written and read in one and the same form. */
export const FIXED_TEXT = [
  `set local timezone = 'UTC'`, `set local datestyle = 'ISO, MDY'`, `set local intervalstyle = 'postgres'`,
  `set local extra_float_digits = 1`, `set local bytea_output = 'hex'`, `set local client_encoding = 'UTF8'`,
].join('; ');
