// Files are kebab-case, none is a barrel, and a module folder stands in the module graph.
import { MODULE_GRAPH } from './module-graph.mjs';
import { moduleOf } from './sources.mjs';

/** What the package of the SDK is imported by. */
const ENTRY_POINT = 'sdk/src/index.ts';
const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*\.ts$/;
const VAGUE = /(^|[-.])(helpers?|utils?|manager|impl|misc|common)([-.]|$)/;

export function checkNaming(sources, graph = MODULE_GRAPH) {
  const findings = [];
  for (const { path } of sources) {
    const file = path.slice(path.lastIndexOf('/') + 1);
    const report = (rule, message) => findings.push({ path, line: 1, rule, message });
    if (file === 'index.ts' && path !== ENTRY_POINT) report('no-barrels', 'no index files: import the file that declares the name');
    if (!KEBAB.test(file)) report('file-name', 'file names are kebab-case');
    if (VAGUE.test(file)) report('file-name', 'name the file after what it does');
    const module = moduleOf(path);
    if (module !== undefined && !(module in graph)) {
      report('known-module', `module ${module} is not in scripts/lint/module-graph.mjs`);
    }
  }
  return findings;
}
