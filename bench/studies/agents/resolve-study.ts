// How fast an agent is found among ten thousand, a thousand of whom could do it.
import { newId } from '../../../src/domain/ids.js';
import { anAdmin, post } from '../../callers.js';
import { startOpenLoop } from '../../load/open-loop.js';
import type { Phase } from '../../measure.js';
import { cpuSeconds } from '../../processes.js';
import type { Goal } from '../../goals.js';
import { cell, whole } from '../../report.js';
import type { Study, StudyContext } from '../../study.js';
import { callsOf, inTurn, ratios, ratioText, sidesTable } from './in-turn.js';

const AGENTS = 10_000;
const ELIGIBLE = 1_000;
const WANTED = 'bench.wanted';
const OTHER = 'bench.other';
const ADMINS = 8;
const PER_SECOND = 20;
const PATH = '/api/v1/routing/resolve';

export const resolveStudy: Study = {
  key: 'resolve',
  onlyWhenNamed: true,
  run: async (context) => {
    const { stage, progress, options, workFolder, tokens } = context;
    const count = Math.ceil(options.pairs / 2);
    progress.begin('Finding an agent', 2 * (count + 1) + 1);
    const organizationId = await agentsOfAnOrganization(context);
    const body = JSON.stringify({ capability: WANTED, organizationId });
    const { url } = stage.governed;
    // Not root, each use of whose key leaves an entry.
    const keys: string[] = [];
    while (keys.length < ADMINS) keys.push(await anAdmin(stage, organizationId));
    const resolving = () => resolvePhase(context, body, keys);
    const sides = { resolve: resolving, bare: callsOf(context, 'web.search', tokens, 'bare') };
    const rounds = await inTurn(sides, count, () => progress.step());
    const { result } = startOpenLoop(workFolder, {
      url: url + PATH, tokens: keys, body, perSecond: PER_SECOND, seconds: options.seconds * 4,
    });
    const { p50, p95, p99, calls } = await result;
    const found = ratios(rounds, 'resolve', 'bare');
    const text = [
      '', `  Finding one of ${whole(AGENTS)} agents, ${whole(ELIGIBLE)} of them eligible: ${ratioText(found)} a bare insert`, '',
      ...sidesTable(rounds, { resolve: 'resolve', bare: 'bare' }), '',
      `  At ${PER_SECOND} a second: p50 ${cell(p50)} ms, p95 ${cell(p95)} ms, p99 ${cell(p99)} ms, of ${whole(calls)}.`, '',
    ].join('\n');
    const goals: Goal[] = [
      { what: 'resolve, to a bare insert', value: found.ratio, wanted: 0.4 },
      { what: `resolve at ${PER_SECOND} a second, p95`, value: p95, wanted: 10, bound: 'most', unit: 'ms' },
    ];
    return { text, values: { figure: 'resolve', ...found, rounds, alone: { p50, p95, p99, calls } }, goals };
  },
};

async function resolvePhase({ stage, load, options }: StudyContext, body: string, tokens: readonly string[]): Promise<Phase> {
  const { url, pid } = stage.governed;
  const order = { url: url + PATH, tokens, body, connections: options.connections };
  await load.run({ ...order, seconds: options.warmUpSeconds });
  const spentBefore = [cpuSeconds(pid), cpuSeconds(stage.databasePid, true)] as const;
  const { requests, requestsPerSecond, p50, p99, failed } = await load.run({ ...order, seconds: options.seconds });
  if (failed > 0) throw new Error(`resolve: ${failed} calls failed`);
  const each = (seconds: number) => (seconds / requests) * 1e6;
  return {
    requestsPerSecond, p50, p99, serverCpu: each(cpuSeconds(pid) - spentBefore[0]),
    databaseCpu: each(cpuSeconds(stage.databasePid, true) - spentBefore[1]),
  };
}

/** Past the API: copies of an agent that it has registered, a tenth of them with a grant of what is wanted, the others with another. */
async function agentsOfAnOrganization({ stage }: StudyContext): Promise<string> {
  const { organization: { id } } = await post<{ organization: { id: string } }>(stage, '/api/v1/organizations', { name: 'many agents' });
  const { agent } = await post<{ agent: { id: string } }>(stage, '/api/v1/agents', {
    name: 'model', organizationId: id, grants: [{ capability: 'web.search' }],
  });
  const ids = Array.from({ length: AGENTS }, () => newId('agt'));
  const copy = (table: string, changes: string, from: string) => stage.database.query(
    `insert into ${table} select r.* from (select to_jsonb(m) as model from ${table} m where ${from}) m,
       unnest($2::text[], $3::text[], $4::text[]) with ordinality as i(agent_id, grant_id, capability, n),
       jsonb_populate_record(null::${table}, m.model || ${changes}) r where $1 = $1`,
    [agent.id, ids, ids.map(() => newId('grt')), ids.map((_, n) => (n < ELIGIBLE ? WANTED : OTHER))]);
  await copy('agents', `jsonb_build_object('id', i.agent_id, 'name', 'agent ' || i.n,
    'node_last_seen', clock_timestamp() - make_interval(secs => i.n))`, 'm.id = $1');
  await copy('audit_heads', `jsonb_build_object('chain', i.agent_id, 'seq', 0, 'hash', null, 'open_tasks', i.n % 5)`, 'm.chain = $1');
  const grant = `jsonb_build_object('agent_id', i.agent_id, 'id', i.grant_id, 'capability', i.capability)`;
  await copy('capability_grants', grant, 'm.agent_id = $1');
  await stage.database.query('analyze agents, audit_heads, capability_grants');
  return id;
}
