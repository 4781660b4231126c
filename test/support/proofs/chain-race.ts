import { anAgent } from '../builders/agents.js';
import { as, asRoot, type Client } from '../http/actors.js';
import type { TestServer } from '../servers/server.js';
import { done, made, oneOf, pause } from './races.js';

const CAPABILITY = 'web.search';
const TASKS = 6;
const MEMBERS = ['the first', 'the middle', 'the last'] as const;

export const CHAIN_WITHDRAWALS = ['revoked', 'deactivated', 'blocked', 'asked about', 'stopped', 'tightened'] as const;
type ChainWithdrawal = (typeof CHAIN_WITHDRAWALS)[number];

/** What rounds over chains count, each of which must occur. */
export const chainCoverage = (): Record<string, number> => Object.fromEntries(
  [...CHAIN_WITHDRAWALS.map((one) => `${one} in a chain`), ...MEMBERS.map((one) => `of ${one} of a chain`),
    'tasks begun before it', 'tasks refused after it'].map((one) => [one, 0]));

/** Three agents, each of which may do alone what it gives on: the last one does tasks on two servers while one of them loses its right. */
export class ChainRace {
  private rounds: number;

  private constructor(
    private readonly servers: readonly TestServer[], private readonly ids: readonly string[], private token: string, number: number,
  ) {
    this.rounds = number;
  }

  /** @param number with which of the withdrawals it begins */
  static async prepared(servers: readonly TestServer[], number: number): Promise<ChainRace> {
    const agents = [];
    for (const _ of MEMBERS) agents.push(await made(() => anAgent(servers[0]!).granted(CAPABILITY).create()));
    return new ChainRace(servers, agents.map(({ id }) => id), agents.at(-1)!.token, number);
  }

  /** @returns a task that began after the answer to the withdrawal, in words */
  async round(random: () => number, coverage: Record<string, number>): Promise<string | undefined> {
    const n = this.rounds;
    this.rounds += 1;
    const withdrawal = CHAIN_WITHDRAWALS[n % CHAIN_WITHDRAWALS.length]!;
    // Each withdrawal meets each of them in turn.
    const at = (n + Math.floor(n / CHAIN_WITHDRAWALS.length)) % MEMBERS.length;
    const root = asRoot(oneOf(this.servers, random));
    const [parent, tasks] = await this.given();
    const moment = random() * 25;
    let restore: () => Promise<void> = async () => undefined;
    const withdrawn = pause(moment).then(async () => {
      restore = await withdraw(root, this.ids[at]!, withdrawal);
      return this.begun();
    });
    const calls = tasks.map(async (taskId, i) => {
      await pause((i / tasks.length) * 30);
      const client = as(this.servers[i % this.servers.length]!, this.token);
      return client.post<{ status: unknown }>('/api/v1/execute', { capability: CAPABILITY, input: { i }, context: { task_id: taskId } });
    });
    const [replies, atTheAnswer] = await Promise.all([Promise.all(calls), withdrawn]);
    coverage[`${withdrawal} in a chain`]! += 1;
    coverage[`of ${MEMBERS[at]!} of a chain`]! += 1;
    for (const { status, body } of replies) {
      if (status === 200 && body.status === 'executed') coverage['tasks begun before it']! += 1;
      else if (status === 202 || status === 401 || status === 403 || (status === 200 && body.status === 'blocked')) {
        coverage['tasks refused after it']! += 1;
      // Turned away under load: nothing of it happened.
      } else if (status !== 503) throw new Error(`a task's call was answered ${status}: ${JSON.stringify(body)}`);
    }
    const late = (await this.begun()).filter((id) => !atTheAnswer.includes(id));
    await restore();
    await this.cleared(root, parent);
    if (at === MEMBERS.length - 1 && withdrawal === 'deactivated') await this.vouchedAnew();
    if (late.length === 0) return undefined;
    return `${late.join(', ')} began after the answer by which ${MEMBERS[at]!} agent of ${this.ids.join(' → ')} was ${withdrawal}`;
  }

  /** A task from the first to the middle, and parts of it for the last. */
  private async given(): Promise<readonly [parent: string, tasks: readonly string[]]> {
    const [first, middle, last] = this.ids;
    const root = asRoot(this.servers[0]!);
    const give = async (fromAgentId: string, toAgentId: string, input: object, parentId?: string) => {
      const task = { capability: CAPABILITY, input, ...(parentId === undefined ? {} : { parentId }) };
      return (await done(() => root.post('/api/v1/routing/delegate', { fromAgentId, toAgentId, task }))).expect(201).text('task.id');
    };
    const parent = await give(first!, middle!, { whole: true });
    const tasks: string[] = [];
    for (let i = 0; i < TASKS; i++) tasks.push(await give(middle!, last!, { i }, parent));
    return [parent, tasks];
  }

  /** What the last agent has begun so far. */
  private async begun(): Promise<string[]> {
    const rows = await this.servers[0]!.sql<{ id: string }>(
      `select payload::json #>> '{metadata,executionId}' as id from audit_entries where chain = $1 and event = 'execution.started'`,
      [this.ids.at(-1)]);
    return rows.map(({ id }) => id);
  }

  private async cleared(root: Client, parent: string): Promise<void> {
    const query = { agentId: this.ids.at(-1)!, status: 'pending' };
    const open = (await done(() => root.get('/api/v1/hitl', { query }))).list('requests') as { id: string }[];
    for (const { id } of open) await done(() => root.post(`/api/v1/hitl/${id}/cancel`));
    (await done(() => root.post(`/api/v1/tasks/${parent}/cancel`))).expect(200);
  }

  private async vouchedAnew(): Promise<void> {
    this.token = (await done(() => asRoot(this.servers[0]!).post(`/api/v1/agents/${this.ids.at(-1)}/token`))).expect(200).text('token');
  }
}

/** @returns what gives the right back */
async function withdraw(root: Client, agentId: string, withdrawal: ChainWithdrawal): Promise<() => Promise<void>> {
  const agent = `/api/v1/agents/${agentId}`;
  const grant = `${agent}/capabilities/${CAPABILITY}`;
  const granted = (terms: object) => async () =>
    void (await done(() => root.post('/api/v1/capabilities/grant', { agentId, capability: CAPABILITY, hitlMode: 'auto', ...terms })));
  switch (withdrawal) {
    case 'revoked': {
      const query = { agentId, capability: CAPABILITY };
      const id = (await done(() => root.get('/api/v1/capabilities/grants', { query }))).expect(200).text('grants.0.id');
      (await done(() => root.delete(`/api/v1/capabilities/grant/${id}`))).expect(204);
      return granted({});
    }
    case 'deactivated':
      (await done(() => root.post(`${agent}/deactivate`))).expect(200);
      return async () => void (await done(() => root.post(`${agent}/activate`))).expect(200);
    case 'blocked':
      (await done(() => root.patch(grant, { hitlMode: 'block' }))).expect(200);
      return granted({});
    case 'asked about':
      (await done(() => root.patch(grant, { hitlMode: 'propose' }))).expect(200);
      return granted({});
    case 'tightened':
      (await done(() => root.patch(grant, { conditions: [{ when: 'true', hitlMode: 'block' }] }))).expect(200);
      return granted({ conditions: [] });
    case 'stopped': {
      const stop = { scope: 'agent', id: agentId, reason: 'a race' };
      const id = (await done(() => root.post('/api/v1/stops', stop))).expect(201).text('stop.id');
      return async () => void (await done(() => root.delete(`/api/v1/stops/${id}`))).expect(204);
    }
  }
}
