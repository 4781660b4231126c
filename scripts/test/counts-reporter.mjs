// Jest's own counts and the names of what failed, left in a file for the last lines of npm test. Jest wants its reporters as a default
// export.
import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

export default class CountsReporter {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites, testResults }) {
    const counts = { passed: numPassedTests, failed: numFailedTests, unloadable: numRuntimeErrorTestSuites };
    writeFileSync(process.env.COUNTERSIGN_TEST_COUNTS, JSON.stringify({ ...counts, names: testResults.flatMap(namesOfFailed) }));
  }
}

function namesOfFailed({ testFilePath, testExecError, testResults }) {
  const file = relative(process.cwd(), testFilePath);
  if (testExecError) return [`${file} (it could not be run)`];
  return testResults.filter(({ status }) => status === 'failed').map(({ fullName }) => `${file} › ${fullName}`);
}
