// Runs dependency-cruiser over a checkout with the layering rules of .dependency-cruiser.mjs.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { cruise } from 'dependency-cruiser';
import layering from '../../.dependency-cruiser.mjs';

export async function checkLayers(root) {
  const folders = ['src', 'migrations', 'test', 'bench', 'scripts', 'demo', 'verifier', 'sdk/src']
    .filter((folder) => existsSync(join(root, folder)));
  if (folders.length === 0) return [];
  const { forbidden, options } = layering;
  const { output } = await cruise(folders, { ...options, baseDir: root, validate: true, ruleSet: { forbidden } });
  const comments = new Map(forbidden.map(({ name, comment }) => [name, comment]));
  return output.summary.violations.map((violation) => ({
    path: violation.from,
    line: 1,
    rule: violation.rule.name,
    message: `${arrow(violation)}. ${comments.get(violation.rule.name) ?? ''}`.trim(),
  }));
}

function arrow({ to, cycle }) {
  if (!cycle || cycle.length === 0) return `imports ${to}`;
  return `cycle through ${cycle.map((step) => step.name ?? step).join(' → ')}`;
}
