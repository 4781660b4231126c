// The files that take longest begin first, so that the workers end together. Jest remembers how long each took where it has run before;
// a fresh checkout knows it from here: seconds, measured with three workers on two cores. What is not listed is short.
import { relative } from 'node:path';
import TestSequencer from '@jest/test-sequencer';

const SECONDS = {
};

/** Of a file that is not listed, a second; the larger ones first. */
const BYTES_A_SECOND = 10_000;

export default class LongestFirst extends TestSequencer {
  time(test) {
    const { rootDir } = test.context.config;
    const seconds = SECONDS[relative(rootDir, test.path)] ?? (test.context.hasteFS.getSize(test.path) ?? 0) / BYTES_A_SECOND;
    return super.time(test) ?? seconds * 1_000;
  }
}
