// ESLint over a checkout, and oxlint for the rules that need types; findings in the shape of the other checks.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, relative } from 'node:path';
import { ESLint } from 'eslint';

const OXLINT = join(import.meta.dirname, '../../node_modules/oxlint/bin/oxlint');

export async function checkStyle(root, { fix = false } = {}) {
  // One after the other where both would write.
  if (fix) return [...await withoutTypes(root, fix), ...await withTypes(root, fix)];
  return (await Promise.all([withTypes(root, fix), withoutTypes(root, fix)])).flat();
}

async function withoutTypes(root, fix) {
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

async function withTypes(root, fix) {
  const args = [OXLINT, '--type-aware', '--disable-nested-config', '--format', 'json', ...(fix ? ['--fix'] : [])];
  const oxlint = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const [output, errors] = [oxlint.stdout, oxlint.stderr].map(textOf);
  const [code] = await once(oxlint, 'close');
  // It ends with 1 where it found something.
  if (code > 1 || !(await output).startsWith('{')) throw new Error(`oxlint ended with ${code}: ${await output}${await errors}`);
  return JSON.parse(await output).diagnostics.map(({ filename, labels, code: rule, message }) => ({
    path: filename, line: labels[0]?.span.line ?? 1, rule: rule ?? 'parse', message,
  }));
}

async function textOf(stream) {
  let text = '';
  for await (const chunk of stream) text += chunk;
  return text;
}
