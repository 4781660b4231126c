// ESLint over a checkout; findings in the shape of the other checks.
import { relative } from 'node:path';
import { ESLint } from 'eslint';

export async function checkStyle(root, { fix = false } = {}) {
  const eslint = new ESLint({ cwd: root, fix, errorOnUnmatchedPattern: false });
  const results = await eslint.lintFiles(['.']);
  if (fix) await ESLint.outputFixes(results);
  return results.flatMap(({ filePath, messages }) =>
    messages.map(({ line, ruleId, message }) => ({
      path: relative(root, filePath),
      line: line ?? 1,
      rule: ruleId ?? 'parse',
      message,
    })),
  );
}
