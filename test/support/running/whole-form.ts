// Long sweeps have two forms: each run of the tests tries a part, always the same one; files of test/long, which `npm run prove` tries, set
// COUNTERSIGN_WHOLE and import the same tests.
const isWhole = process.env['COUNTERSIGN_WHOLE'] === '1';

/** One of so many, beginning with another one at each turn; in the whole form all of them. */
export function partOf<Item>(all: readonly Item[], oneIn: number, turn = 0): readonly Item[] {
  return isWhole ? all : all.filter((_, n) => (n + turn) % oneIn === 0);
}

/** How often something is tried: `whole` in the whole form. */
export const times = (some: number, whole: number): number => (isWhole ? whole : some);
