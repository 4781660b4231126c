// Jest's own counts and the names of what failed, left in a file for the last lines of npm test. Jest wants its reporters as a default
// export.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

export default class CountsReporter {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, testResults }) {
    const counts = { passed: numPassedTests, failed: numFailedTests, unloadable: numRuntimeErrorTestSuites };
    const counted = { ...counts, slowest: slowestOf(testResults), names: testResults.flatMap(namesOfFailed) };
    writeFileSync(process.env.COUNTERSIGN_TEST_COUNTS, JSON.stringify(counted));
  }
}

/** Shorter ones are not worth a line. */
const LONG_MS = 1_000;

function slowestOf(testResults) {
  const tests = testResults.flatMap(({ testFilePath, testResults: ran }) =>
    ran.map(({ duration, fullName }) => ({ duration: duration ?? 0, name: `${relative(process.cwd(), testFilePath)} › ${fullName}` })));
  return tests.filter(({ duration }) => duration >= LONG_MS).sort((a, b) => b.duration - a.duration).slice(0, 10)
    .map(({ duration, name }) => `${(duration / 1_000).toFixed(1)} s  ${name.slice(0, 160)}`);
}

function namesOfFailed({ testFilePath, testExecError, testResults }) {
  const file = relative(process.cwd(), testFilePath);
  if (testExecError) return [`${file} (it could not be run)`];
  return testResults.filter(({ status }) => status === 'failed').map(({ fullName }) => `${file} › ${fullName}`);
}
