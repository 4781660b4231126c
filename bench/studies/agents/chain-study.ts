// What a task's execution costs over a chain of two agents, beside one that is no task's.
import { newId } from '../../../src/domain/ids.js';
import { jcs } from '../../../src/domain/audit/entry/jcs.js';
import { INPUT } from '../../figures.js';
import { eachOnce } from '../../load/each-once.js';
import { type Phase } from '../../measure.js';
import { cpuSeconds } from '../../processes.js';
import type { Goal } from '../../goals.js';
import type { Study, StudyContext } from '../../study.js';
import { agentIdOf } from './connector-study.js';
import { inTurn, ratios, ratioText, sidesTable } from './in-turn.js';

const CAPABILITY = 'web.search';
/** Calls of a phase for each second that it is to last, of the side that is slower. */
const CALLS_A_SECOND = 800;

export const chainStudy: Study = {
  key: 'chain',
  onlyWhenNamed: true,
  run: async (context) => {
    const { progress, options } = context;
    const count = Math.ceil(options.pairs / 2);
    progress.begin('A task over a chain of two', 2 * (count + 1));
    const calls = options.seconds * CALLS_A_SECOND;
    const rounds = await inTurn({ chain: () => phase(context, calls, true), receipt: () => phase(context, calls, false) }, count,
      () => progress.step());
    await assertTaken(context, calls * (count + 1));
    const found = ratios(rounds, 'chain', 'receipt');
    const text = [
      '', `  A task's execution over a chain of two agents: ${ratioText(found)} a receipt-only execution`, '',
      ...sidesTable(rounds, { chain: 'task', receipt: 'receipt-only' }), '',
    ].join('\n');
    const goal: Goal = { what: "a task's execution, chain of two, to receipt-only", value: found.ratio, wanted: 0.3 };
    return { text, values: { figure: 'chain', ...found, rounds }, goals: [goal] };
  },
};

async function phase(context: StudyContext, count: number, isTask: boolean): Promise<Phase> {
  const { stage, tokens, workFolder, options } = context;
  // The first of each two gives tasks to the second, which calls on either side.
  const pairs = tokens.flatMap((token, i) => (i % 2 === 0 ? [] : [{ from: agentIdOf(tokens[i - 1]!), to: agentIdOf(token), token }]));
  const callers = Array.from({ length: count }, (_, i) => ({ ...pairs[i % pairs.length]!, taskId: newId('task') }));
  if (isTask) await give(context, callers);
  const calls = callers.map(({ token, taskId }) => ({
    token, body: JSON.stringify({ capability: CAPABILITY, input: INPUT, context: { task_id: isTask ? taskId : 'a-label' } }),
  }));
  await stage.checkpoint();
  const spentBefore = [cpuSeconds(stage.governed.pid), cpuSeconds(stage.databasePid, true)] as const;
  const order = { url: `${stage.governed.url}/api/v1/execute`, calls, connections: options.connections };
  const { failed, ...times } = await eachOnce(workFolder, order);
  if (failed.length > 0) throw new Error(`chain: ${failed.length} calls failed, the first with ${failed[0]}`);
  const each = (seconds: number) => (seconds / count) * 1e6;
  return {
    ...times, serverCpu: each(cpuSeconds(stage.governed.pid) - spentBefore[0]),
    databaseCpu: each(cpuSeconds(stage.databasePid, true) - spentBefore[1]),
  };
}

/** Past the API: so many tasks are not what is measured. */
async function give({ stage }: StudyContext, tasks: readonly { from: string; to: string; taskId: string }[]): Promise<void> {
  await stage.database.query(
    `with given as (
       insert into tasks (organization_id, id, ancestors, capability, input, from_agent_id, to_agent_id, chain, delegated_by, status,
         created_at)
       select first_organization_id, t.id, '{}', $4, $5, t.sender, t.receiver, array[t.sender, t.receiver], t.sender, 'assigned',
         clock_timestamp()
       from instance, unnest($1::text[], $2::text[], $3::text[]) as t(id, sender, receiver)
       returning organization_id, to_agent_id)
     update audit_heads h set open_tasks = open_tasks + n, revision = revision + 1
     from (select organization_id, to_agent_id, count(*) as n from given group by 1, 2) g
     where h.organization_id = g.organization_id and h.chain = g.to_agent_id`,
    [tasks.map(({ taskId }) => taskId), tasks.map(({ from }) => from), tasks.map(({ to }) => to), CAPABILITY, jcs(INPUT as never)],
  );
  await stage.database.query('analyze tasks');
}

async function assertTaken({ stage }: StudyContext, wanted: number): Promise<void> {
  const { rows } = await stage.database.query<{ taken: number }>(
    `select count(*)::integer as taken from tasks t join executions e on e.id = t.execution_id where e.status = 'executed'`);
  if (rows[0]!.taken !== wanted) throw new Error(`chain: ${rows[0]!.taken} tasks were done instead of ${wanted}`);
}
