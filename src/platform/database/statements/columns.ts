/** PostgreSQL's bigint arrives as text; ours count revisions and epochs, far below 2^53. */
export const bigintNumber = { to: (value: number) => value, from: (value: string) => Number(value) };
