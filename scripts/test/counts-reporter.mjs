// Jest's own counts, left in a file for the closing line of npm test. Jest wants its reporters as a default export.
import { writeFileSync } from 'node:fs';

export default class CountsReporter {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites }) {
    const counts = { passed: numPassedTests, failed: numFailedTests, unloadable: numRuntimeErrorTestSuites };
    writeFileSync(process.env.COUNTERSIGN_TEST_COUNTS, JSON.stringify(counts));
  }
}
