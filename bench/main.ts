// `npm run bench`: what governing a call costs, as a ratio to a bare insert on the same stack. docs/benchmarks.md says how
// to read it.
import { rmSync, writeFileSync } from 'node:fs';
import { chainStudy } from './studies/agents/chain-study.js';
import { mcpStudy, secretStudy } from './studies/agents/connector-study.js';
import { nodeStudy } from './studies/agents/node-study.js';
import { resolveStudy } from './studies/agents/resolve-study.js';
import { appendStudy } from './studies/append-study.js';
import { approveStudy } from './studies/approve-study.js';
import { auditQueryStudy } from './studies/audit-query-study.js';
import { backupStudy } from './studies/backup/backup-study.js';
import { makeAgentKeys, registerAgents } from './callers.js';
import { verifyLog } from './checks.js';
import { environmentOf, workFolder } from './environment.js';
import { type Figure, FIGURES } from './figures.js';
import { goalsOf, goalsText, type GoalsOfRun } from './goals.js';
import { integrateStudy } from './studies/integrate-study.js';
import { chooseLoadGenerator } from './load/load.js';
import { llmStudy } from './llm/llm-study.js';
import { measure, type Measured, pairsOf } from './measure.js';
import { millionStudy } from './studies/million-study.js';
import { notifyStudy } from './studies/notify-study.js';
import { type Options, parseOptions, USAGE } from './options.js';
import { piiStudy } from './pii/pii-study.js';
import { sdkStudy } from './client/sdk-study.js';
import { pendingStudy } from './studies/pending-study.js';
import { watchMachine } from './processes.js';
import { Progress } from './progress.js';
import { environmentText, figureText, summaryOf, verifiedText } from './report.js';
import { setStage, type Stage } from './stage.js';
import type { Studied, Study } from './study.js';
import { sweepStudy } from './studies/request-expiry.js';
import { growthStudy } from './studies/scale/growth-study.js';
import { metricsStudy } from './studies/scale/metrics-study.js';
import { serversStudy } from './studies/scale/servers-study.js';
import { verifyStudy } from './studies/verify-study.js';

/** The sweep is behind what counts requests: it ends them. */
const STUDIES: readonly Study[] = [
  pendingStudy, approveStudy, millionStudy, sweepStudy, appendStudy, auditQueryStudy, notifyStudy, integrateStudy, verifyStudy,
  secretStudy, mcpStudy, nodeStudy, chainStudy, resolveStudy, llmStudy, piiStudy, sdkStudy, backupStudy, serversStudy,
  metricsStudy, growthStudy,
];

/** What then fails fails for want of the servers, which is no news. */
let interrupted = false;

const say = (text: string) => void process.stdout.write(text);

async function main(options: Options): Promise<void> {
  const { figures, studies } = chosen(options);
  const folder = workFolder(options);
  const load = chooseLoadGenerator(options.load, folder);
  const progress = new Progress(process.stderr);
  let stage: Stage | undefined;
  let ending: Promise<void> | undefined;
  const takeDown = async () => {
    progress.clear();
    await stage?.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  const end = () => (ending ??= takeDown());
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      interrupted = true;
      void end().finally(() => process.exit(130));
    });
  }
  try {
    progress.begin('starting PostgreSQL and the servers', 1);
    stage = await setStage(folder, options);
    const environment = await environmentOf(stage.database, load.name, options);
    progress.begin('registering agents', 1);
    const tokens = await registerAgents(stage, options.agents, (share) => progress.to(share));
    progress.clear();
    say(environmentText(environment, options));
    progress.begin('making agent keys', 1);
    const isByKey = figures.some(({ by }) => by === 'key');
    const keys = isByKey ? await makeAgentKeys(stage, tokens, (share) => progress.to(share)) : [];
    progress.clear();
    const results: Measured[] = [];
    const goals: GoalsOfRun[] = [];
    for (const figure of figures) {
      progress.begin(figure.title, pairsOf(figure, options) * 2);
      const machineUse = watchMachine();
      const phaseDone = (ratio?: number) => progress.step(ratio === undefined ? '' : `${ratio.toFixed(2)} ×`);
      const result = await measure(stage, figure, figure.by === 'key' ? keys : tokens, load, options, phaseDone);
      progress.clear();
      say(figureText(result));
      results.push(result);
      goals.push({ goals: goalsOf(result), machine: machineUse() });
    }
    const studied: Studied[] = [];
    for (const study of studies) {
      const machineUse = watchMachine();
      const result = await study.run({ stage, tokens, load, options, workFolder: folder, progress });
      progress.clear();
      say(result.text);
      studied.push(result);
      goals.push({ goals: result.goals ?? [], machine: machineUse() });
    }
    progress.begin('verifying the audit log', 1);
    const verified = await verifyLog(stage);
    progress.clear();
    say(verifiedText(verified));
    say(goalsText(goals));
    if (options.json !== undefined) {
      const figuresOut = results.map((result) => ({ ...summaryOf(result), ...result, figure: result.figure.key }));
      const out = { environment, options, figures: figuresOut, studies: studied.map(({ values }) => values), goals, verified };
      writeFileSync(options.json, `${JSON.stringify(out, undefined, 2)}\n`);
    }
  } finally {
    await end();
  }
}

function chosen({ only }: Options): { figures: readonly Figure[]; studies: readonly Study[] } {
  const known = new Set([...FIGURES, ...STUDIES].map(({ key }) => key));
  const unknown = only.filter((key) => !known.has(key));
  if (unknown.length > 0) throw new Error(`--only: there is no figure ${unknown.join(', ')}`);
  if (only.length === 0) {
    return { figures: FIGURES.filter((one) => !one.onlyWhenNamed), studies: STUDIES.filter((one) => !one.onlyWhenNamed) };
  }
  return { figures: FIGURES.filter(({ key }) => only.includes(key)), studies: STUDIES.filter(({ key }) => only.includes(key)) };
}

try {
  const options = parseOptions(process.argv.slice(2));
  if (options === 'help') say(USAGE);
  else await main(options);
} catch (error) {
  if (!interrupted) process.stderr.write(`\nnpm run bench: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
