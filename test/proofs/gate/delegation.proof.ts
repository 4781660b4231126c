import { asRoot, type Client, type Reply } from '../../support/http/actors.js';
import { anAgent } from '../../support/builders/agents.js';
import { defineCapability } from '../../support/builders/gate.js';
import { inParallel } from '../../support/proofs/in-lanes.js';
import type { Proof } from '../../support/proofs/proof.js';
import { done, generator, made, oneOf } from '../../support/proofs/races.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const LANES = 8;
const AGENTS = 7;
const CAPABILITIES = ['delegated.read', 'delegated.write'] as const;
/** From the mildest to the strictest. */
const MODES = ['auto', 'notify', 'propose', 'escalate', 'block'] as const;
type Mode = (typeof MODES)[number];
const DEEPEST = 5;
/** Inputs are few, so that calls are equal to tasks by chance too. */
const INPUTS = 3;

interface OracleGrant {
  mode: Mode;
  /** From this `n` on a condition blocks it. */
  blocksFrom: number;
}

/** An agent as the oracle knows it: nothing here is read from the product. */
interface OracleAgent {
  readonly id: string;
  active: boolean;
  readonly grants: Map<string, OracleGrant>;
}

interface OracleTask {
  readonly id: string;
  readonly chain: readonly OracleAgent[];
  readonly parent: OracleTask | undefined;
  readonly capability: string;
  readonly n: number;
  state: 'assigned' | 'waits' | 'over';
}

type Outcome = 'refused' | 'blocked' | 'asked' | 'executed';

/** Graphs of delegations that grow at random, beside an oracle that knows who may do what. */
export const proof: Proof = {
  name: 'delegation',
  title: 'No task does what an agent of its chain may not do, whoever gave it to whom and whatever changed since.',
  longCount: 20_000,
  shortCount: 1_000,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const coverage: Record<string, number> = {};
    for (const one of ['refused', 'blocked', 'asked', 'executed']) coverage[`a task's call ${one}`] = 0;
    const kinds = ['given', 'refused', 'in a circle or too deep', 'equal calls', 'foreign tasks', 'over', 'cancelled'];
    for (const one of kinds) coverage[one] = 0;
    for (let depth = 1; depth <= DEEPEST; depth++) coverage[`${depth} deep`] = 0;
    coverage['stricter by another agent'] = 0;
    const server = await startServer();
    try {
      for (const name of CAPABILITIES) await defineCapability(server, name);
      let checked = 0;
      let counterexample: string | undefined;
      await inParallel(LANES, Array.from({ length: LANES }, (_, i) => i), async (lane) => {
        const graph = await Graph.grown(server, generator(seed * LANES + lane), coverage);
        while (checked < count && counterexample === undefined) {
          const found = await graph.step();
          counterexample ??= found;
          progress(++checked);
        }
      });
      const verdict = (await asRoot(server).get('/api/v1/audit/verify')).expect(200);
      if (verdict.at('valid') !== true) {
        counterexample ??= `the log does not verify: ${JSON.stringify(verdict.at('breaks')).slice(0, 2_000)}`;
      }
      return { checked, ...(counterexample === undefined ? {} : { counterexample }), coverage };
    } finally {
      await server.stop();
    }
  },
};

class Graph {
  private tasks: OracleTask[] = [];

  private constructor(
    private readonly root: Client, private readonly agents: readonly OracleAgent[], private readonly random: () => number,
    private readonly coverage: Record<string, number>,
  ) {}

  static async grown(server: TestServer, random: () => number, coverage: Record<string, number>): Promise<Graph> {
    const agents: OracleAgent[] = [];
    while (agents.length < AGENTS) {
      agents.push({ id: (await made(() => anAgent(server).create())).id, active: true, grants: new Map() });
    }
    const graph = new Graph(asRoot(server), agents, random, coverage);
    for (const agent of agents) for (const capability of CAPABILITIES) await graph.grant(agent, capability, 'auto');
    return graph;
  }

  /** One operation. @returns how the product and the oracle differ */
  async step(): Promise<string | undefined> {
    const dice = this.random();
    if (dice < 0.06) return this.change();
    if (dice < 0.5) return this.delegate();
    if (dice < 0.53) return this.cancel();
    return this.execute();
  }

  private async change(): Promise<undefined> {
    // Those who are out of service come back soon: a graph of idle agents shows nothing.
    const agent = this.agents.find(({ active, grants }) => !active || grants.size < CAPABILITIES.length) ?? oneOf(this.agents, this.random);
    const capability = oneOf(CAPABILITIES, this.random);
    const dice = this.random();
    if (!agent.active || dice < 0.15) {
      (await done(() => this.root.post(`/api/v1/agents/${agent.id}/${agent.active ? 'deactivate' : 'activate'}`))).expect(200);
      agent.active = !agent.active;
    } else if (dice < 0.3 && agent.grants.has(capability)) {
      const query = { agentId: agent.id, capability };
      const id = (await done(() => this.root.get('/api/v1/capabilities/grants', { query }))).expect(200).text('grants.0.id');
      (await done(() => this.root.delete(`/api/v1/capabilities/grant/${id}`))).expect(204);
      agent.grants.delete(capability);
    } else {
      const missing = CAPABILITIES.find((one) => !agent.grants.has(one));
      await this.grant(agent, missing ?? capability, dice < 0.75 ? 'auto' : oneOf(MODES, this.random));
    }
  }

  private async grant(agent: OracleAgent, capability: string, hitlMode: Mode): Promise<void> {
    const blocksFrom = Math.floor(this.random() * 8) + 2;
    const conditions = [{ when: `input.n >= ${blocksFrom}`, hitlMode: 'block' }];
    const body = { agentId: agent.id, capability, hitlMode, conditions };
    const granted = await done(() => this.root.post('/api/v1/capabilities/grant', body));
    if (granted.status !== 200) granted.expect(201);
    agent.grants.set(capability, { mode: hitlMode, blocksFrom });
  }

  private async delegate(): Promise<string | undefined> {
    const [capability, n] = this.call();
    const within = this.tasks.length > 0 && this.random() < 0.7 ? this.some() : undefined;
    // Root without an agent gives it in nobody's name.
    const from = within ? assigneeOf(within) : this.random() < 0.2 ? undefined : oneOf(this.agents, this.random);
    const own = this.tasks.filter((task) => assigneeOf(task) === from);
    const named = within && this.random() < 0.9 ? within : undefined;
    const parent = named ?? oldest(own.filter((task) => isOpen(task) && task.capability === capability && task.n === n));
    const chain = parent?.chain ?? (from ? [from] : []);
    const others = this.agents.filter((agent) => !chain.includes(agent));
    const to = oneOf(this.random() < 0.9 ? others : this.agents, this.random);
    const task = { capability, input: { n }, ...(named ? { parentId: named.id } : {}) };
    const body = { task, toAgentId: to.id, ...(from ? { fromAgentId: from.id } : {}) };
    const reply = await done(() => this.root.post('/api/v1/routing/delegate', body));
    const outcome = outcomeOf([...chain, to], capability, n);
    const wanted = named && !isOpen(named) ? 403
      : chain.length >= DEEPEST || chain.includes(to) ? 409
      : outcome === 'refused' || outcome === 'blocked' ? 403 : 201;
    if (reply.status !== wanted) return `delegating ${said(chain, to, capability, n)} was answered ${reply.status}, not ${wanted}`;
    this.coverage[wanted === 201 ? 'given' : wanted === 409 ? 'in a circle or too deep' : 'refused']! += 1;
    if (wanted === 201) {
      this.tasks.push({ id: reply.text('task.id'), chain: [...chain, to], parent, capability, n, state: 'assigned' });
    }
    // Those that are over are of interest for a while.
    if (this.tasks.length > 60) this.tasks = this.tasks.filter((one, i) => i > 20 || isOpen(one));
    return undefined;
  }

  private async cancel(): Promise<string | undefined> {
    if (this.tasks.length === 0) return undefined;
    const task = oneOf(this.tasks, this.random);
    const reply = await done(() => this.root.post(`/api/v1/tasks/${task.id}/cancel`));
    const wanted = isOpen(task) ? 200 : 409;
    if (reply.status !== wanted) return `cancelling ${task.id} was answered ${reply.status}, not ${wanted}`;
    if (wanted === 200) {
      task.state = 'over';
      this.coverage['cancelled']! += 1;
    }
    return undefined;
  }

  /** By a task's id, by an equal call, or by another agent. */
  private async execute(): Promise<string | undefined> {
    const named = this.tasks.length > 0 && this.random() < 0.75 ? this.some() : undefined;
    const isForeign = named !== undefined && this.random() < 0.1;
    const agent = named === undefined || isForeign ? oneOf(this.agents, this.random) : assigneeOf(named);
    const [capability, n] = named ? [named.capability, this.random() < 0.8 ? named.n : this.call()[1]] : this.call();
    const mayBeNamed = named !== undefined && assigneeOf(named) === agent && isOpen(named);
    const task = named ?? oldest(this.tasks.filter((one) =>
      assigneeOf(one) === agent && isOpen(one) && one.capability === capability && one.n === n));
    const body = { agentId: agent.id, capability, input: { n }, ...(named ? { context: { task_id: named.id } } : {}) };
    const reply = await done(() => this.root.post('/api/v1/execute', body));
    const wanted = named !== undefined && !mayBeNamed ? 'refused' : outcomeOf(task?.chain ?? [agent], capability, n);
    const seen = seenIn(reply);
    if (seen !== wanted) return `executing ${said(task?.chain ?? [], agent, capability, n)} was ${seen}, not ${wanted}`;
    if (named && !mayBeNamed) this.coverage[assigneeOf(named) === agent ? 'over' : 'foreign tasks']! += 1;
    else if (task) this.count(task, agent, n, wanted, named === undefined);
    if (task && (named === undefined || mayBeNamed) && (wanted === 'executed' || wanted === 'asked')) {
      task.state = wanted === 'executed' ? 'over' : 'waits';
    }
    if (wanted === 'asked') await this.decide(reply.text('hitlRequestId'), task, capability, n);
    return undefined;
  }

  /** What asks a person is cancelled, or approved where the chain still may. */
  private async decide(requestId: string, task: OracleTask | undefined, capability: string, n: number): Promise<void> {
    if (task && this.random() < 0.3) await this.change();
    const approves = this.random() < 0.5;
    const reply = await done(() => this.root.post(`/api/v1/hitl/${requestId}/${approves ? 'approve' : 'cancel'}`));
    if (task) {
      const may = !['refused', 'blocked'].includes(outcomeOf(task.chain, capability, n)) && !isWithinEnded(task);
      if (approves && reply.status !== (may ? 200 : 409)) {
        throw new Error(`approving ${said(task.chain, undefined, capability, n)} was answered ${reply.status}`);
      }
      task.state = 'over';
    }
  }

  private count({ chain, capability }: OracleTask, agent: OracleAgent, n: number, outcome: Outcome, isEqual: boolean): void {
    this.coverage[`a task's call ${outcome}`]! += 1;
    this.coverage[`${chain.length} deep`] = (this.coverage[`${chain.length} deep`] ?? 0) + 1;
    if (isEqual) this.coverage['equal calls']! += 1;
    if (outcome !== outcomeOf([agent], capability, n)) this.coverage['stricter by another agent']! += 1;
  }

  /** Mostly one that can be done: of those that are over there are always more. */
  private some(): OracleTask {
    const open = this.tasks.filter(isOpen);
    return oneOf(open.length > 0 && this.random() < 0.85 ? open : this.tasks, this.random);
  }

  private call(): readonly [capability: string, n: number] {
    return [oneOf(CAPABILITIES, this.random), Math.floor(this.random() * INPUTS)];
  }
}

const assigneeOf = ({ chain }: OracleTask): OracleAgent => chain.at(-1)!;
const oldest = (tasks: readonly OracleTask[]): OracleTask | undefined => tasks[0];

function isWithinEnded({ parent }: OracleTask): boolean {
  return parent !== undefined && (parent.state === 'over' || isWithinEnded(parent));
}

const isOpen = (task: OracleTask): boolean => task.state === 'assigned' && !isWithinEnded(task);

function modeOf({ grants }: OracleAgent, capability: string, n: number): Mode | undefined {
  const grant = grants.get(capability);
  return grant && (n >= grant.blocksFrom ? 'block' : grant.mode);
}

/** What a call comes to, by the weakest and strictest of those who stand behind it. */
function outcomeOf(chain: readonly OracleAgent[], capability: string, n: number): Outcome {
  const modes = chain.map((agent) => (agent.active ? modeOf(agent, capability, n) : undefined));
  if (modes.includes(undefined)) return 'refused';
  const strictest = Math.max(...modes.map((mode) => MODES.indexOf(mode!)));
  return strictest === MODES.length - 1 ? 'blocked' : strictest > 1 ? 'asked' : 'executed';
}

function seenIn(reply: Reply): string {
  if (reply.status === 403) return 'refused';
  if (reply.status === 202) return 'asked';
  return reply.status === 200 ? String(reply.at('status')) : `answered with ${reply.status}`;
}

function said(chain: readonly OracleAgent[], to: OracleAgent | undefined, capability: string, n: number): string {
  const shown = (agent: OracleAgent) => `${agent.id}${agent.active ? '' : ' (inactive)'} ${modeOf(agent, capability, n) ?? 'no grant'}`;
  return `${capability} ${n} along ${[...chain, ...(to ? [to] : [])].map(shown).join(' → ')}`;
}
