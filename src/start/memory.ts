import { setFlagsFromString } from 'node:v8';

/** By how much the heap may grow, in per cent of what is in use, before all of it is looked through. */
const GROWTH = 60;

/**
 * What goes to the database and comes from it passes through buffers outside of the heap. V8 counts them as if they were kept, so that
 * beside a small heap it looks through everything several times a second, on a thread that takes a core from whoever is served.
 * Measured, that was a tenth of a busy machine. With 300 per cent a busy server held 580 MiB, with 60 it holds 290 and is as quick, and
 * with less it is slower (docs/benchmarks.md).
 */
export function collectGarbageLessOften(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH}`);
}
