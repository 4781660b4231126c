// Whether a million requests that wait slow anything down: the figures of asking and of approving, before and after.
import { ApprovalDesk, type ApprovalTimes } from './approvals.js';
import { approvalTable, p99Of, row, stretches } from './approve-study.js';
import { median } from '../measure.js';
import { insertPending } from './backlog.js';
import { ratioOf, type Round, rounds, type Side } from './pending-study.js';
import { cell, table, whole } from '../report.js';
import type { Study, StudyContext } from '../study.js';

const MILLION = 1_000_000;
const QUICK = 100_000;
const SIDES: readonly Side[] = ['pending', 'auto', 'bare'];
const READS = 5;

interface Sight {
  readonly rounds: readonly Round[];
  readonly approvals: readonly ApprovalTimes[];
  /** Milliseconds, the median. */
  readonly reads: Readonly<Record<string, number>>;
}

/** What people and machines read while so many wait. */
const PATHS = [
  '/api/v1/hitl?status=pending', '/api/v1/hitl?status=pending&limit=100&offset=1000', '/api/v1/hitl?capability=email.send',
  '/api/v1/hitl/stats', '/health/ready',
];

export const millionStudy: Study = {
  key: 'million',
  onlyWhenNamed: true,
  run: async (context) => {
    const { stage, workFolder, options, progress } = context;
    const count = options.pairs < 4 ? QUICK : MILLION;
    progress.begin('agents', 1);
    const desk = await ApprovalDesk.open(stage, workFolder, (share) => progress.to(share));
    await desk.measure(2, true);
    const before = await look(context, desk, 'before');
    progress.begin(`inserting ${whole(count)} requests`, count);
    await insertPending(stage, count, await agentsOf(context), (done) => progress.to(done / count));
    const after = await look(context, desk, 'after');
    return { text: textOf(count, before, after), values: { figure: 'million', count, before, after } };
  },
};

async function look(context: StudyContext, desk: ApprovalDesk, when: string): Promise<Sight> {
  const { options, progress } = context;
  const pairs = Math.ceil(options.pairs / 2);
  progress.begin(`creating requests, ${when}`, SIDES.length * (pairs + 1));
  const found = await rounds(context, SIDES, pairs, () => progress.step());
  const [count, seconds] = stretches(options);
  progress.begin(`approving, ${when}`, count);
  const approvals: ApprovalTimes[] = [];
  for (let i = 0; i < count; i++) {
    approvals.push(await desk.measure(seconds, true));
    progress.step(`p99 ${cell(approvals.at(-1)!.p99)} ms`);
  }
  progress.begin(`reading, ${when}`, PATHS.length);
  const reads: Record<string, number> = {};
  for (const path of PATHS) {
    reads[path] = await timeOf(context, path);
    progress.step();
  }
  return { rounds: found, approvals, reads };
}

/** @throws Error on an answer other than 200 */
async function timeOf({ stage: { governed } }: StudyContext, path: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < READS; i++) {
    const begin = performance.now();
    const response = await fetch(governed.url + path, { headers: { authorization: `Bearer ${governed.rootKey}` } });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`million: GET ${path} answered ${response.status}: ${text.slice(0, 500)}`);
    times.push(performance.now() - begin);
  }
  return median(times);
}

async function agentsOf({ stage }: StudyContext): Promise<string[]> {
  const { rows } = await stage.database.query<{ id: string }>(`select id from agents where name like 'agent-%' order by id`);
  return rows.map(({ id }) => id);
}

function textOf(count: number, before: Sight, after: Sight): string {
  const rate = (side: Side) => ({ rounds: found }: Sight) => median(found.map((round) => round[side]!.requestsPerSecond));
  const overBare = ({ pending, bare }: Round) => pending.requestsPerSecond / bare!.requestsPerSecond;
  const toBare = ({ rounds: found }: Sight) => median(found.map(overBare));
  const toAuto = ({ rounds: found }: Sight) => median(found.map(ratioOf));
  const approval = (of: 'p50' | 'p95') => ({ approvals }: Sight) => median(approvals.map((times) => times[of]));
  const compared = (name: string, read: (sight: Sight) => number, digits = 1) => {
    const [from, to] = [read(before), read(after)];
    return [name, cell(from, digits), cell(to, digits), `${to >= from ? '+' : '−'}${cell(Math.abs(to / from - 1) * 100)} %`];
  };
  return [
    '',
    `  ${whole(count)} requests that wait: what they change`,
    '',
    ...table(['', 'before', 'after', 'change'], [
      compared('requests created a second', rate('pending'), 0),
      compared('… as a ratio to auto executions', toAuto, 2),
      compared('… as a ratio to bare inserts', toBare, 2),
      compared('bare inserts a second (the machine\'s own drift)', rate('bare'), 0),
      compared('approval to runtime, p50 ms', approval('p50')),
      compared('approval to runtime, p95 ms', approval('p95')),
      compared('approval to runtime, p99 ms', ({ approvals }) => p99Of(approvals)),
      ...PATHS.map((path) => compared(`GET ${path}, ms`, ({ reads }) => reads[path]!)),
    ], false),
    '',
    ...approvalTable([...before.approvals.map((times) => row('before', times)), ...after.approvals.map((times) => row('after', times))]),
    '',
  ].join('\n');
}
