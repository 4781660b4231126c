import type { AgentPrincipal } from '../../platform/auth/access/principal.js';
import { Batcher, type ItemOutcome } from '../../platform/database/batching/batcher.js';
import { GatheredReads } from '../../platform/database/batching/gathered-reads.js';
import type { NamedStatement } from '../../platform/database/statements/named-statement.js';
import type { Statements } from '../../platform/database/statements/statements.js';
import { textArray } from '../../platform/database/statements/text-array.js';
import { isPassing } from '../../platform/http/reply/failure.js';
import { Problem } from '../../platform/http/reply/problem.js';
import type { OutboxSignal } from '../../platform/outbox/outbox-signal.js';
import type { Facts } from '../authority/facts.js';
import type { Closed } from '../executions/closing/closing-events.js';
import { RHYTHM_MS } from '../gate/admission/admission-plan.js';
import { closeParameters, closePlaceholders, type Closing, signalNews } from '../gate/execution/closing-batch.js';
import { LEASE_SECONDS, type Lease, type NewWork, QUEUE, type Work, WORK_COLUMNS, type WorkKey, type WorkStatus } from './work.js';

/** A node that asks for work; `isThere`: that it is there has yet to be written down. */
export interface Poll {
  readonly node: AgentPrincipal;
  readonly isThere: boolean;
}

/** What a poll found; `withheld`: a capability that the credential does not hold, and of which alone work waits. */
export interface Polled {
  readonly lease?: Lease;
  readonly withheld?: string;
}

/** A start that nothing hinders by these facts. */
export interface Starting {
  readonly node: AgentPrincipal;
  readonly work: Work;
  readonly facts: Facts;
}

/** A result that closes its execution. */
export interface Answering {
  readonly node: AgentPrincipal;
  readonly work: Work;
  readonly answer: string;
  readonly closing: Closing;
}

/** `alone`: nothing was changed, and a unit of work has to find out why. */
export type BatchResult = 'ok' | 'alone';

interface PollRow {
  readonly n: number;
  readonly kind: 'lease' | 'withheld' | 'busy' | 'gone';
  readonly executionId: string;
  readonly capability: string;
  readonly fence: number;
  readonly deadline: Date;
  readonly leaseUntil: Date;
}

/** A poll within this time of the one before does not say again that the node is there. Far less than a node is fresh for. */
const SEEN_FOR_SECONDS = 2;
const BUSY_PAUSE_MS = 5;
/** While somebody has the row of a polling node's agent. */
const BUSY_AGENT_PAUSE_MS = 50;
/** How long an item is tried in batches while somebody has the lock of its head; a unit of work waits for that then, as long as it may. */
const PATIENCE_MS = 1_000;

const FIND = `select i.n, ${WORK_COLUMNS}, clock_timestamp() as "readAt"
  from unnest($1::text[], $2::text[]) with ordinality as i(organization_id, execution_id, n)
  cross join lateral (select * from node_work where organization_id = i.organization_id and execution_id = i.execution_id limit 1) w`;

const POLL: NamedStatement = {
  name: 'node-poll-1',
  text: `select n, kind, execution_id as "executionId", capability, fence, deadline, lease_until as "leaseUntil"
    from node_poll_v1($1, $2, $3, $4, $5, ${LEASE_SECONDS}, ${SEEN_FOR_SECONDS})`,
};
const START: NamedStatement = { name: 'node-start-1', text: 'select node_start_v1($1, $2, $3) as results' };
const ANSWER: NamedStatement = { name: 'node-answer-1', text: `select node_answer_v1($1, ${closePlaceholders(2)}) as results` };

/** The work of many nodes in one statement each. What is out of the ordinary is left to units of work. */
export class WorkBatches {
  /** The executions that this server waits for, each with its end once this server has taken the node's result. */
  readonly awaited = new Map<string, Closed | undefined>();
  private readonly found: GatheredReads<Pick<WorkKey, 'organizationId' | 'executionId'>, Work & { readonly readAt: Date }>;
  private readonly queued = this.batcher<NewWork, WorkStatus | undefined>((works) => this.queueAll(works));
  private readonly polls = this.batcher<Poll, Polled>((polls) => this.pollAll(polls));
  private readonly starts = this.batcher<Starting & Since, BatchResult>((starts) => this.startAll(starts));
  private readonly answers = this.batcher<Answering & Since, BatchResult>((answers) => this.answerAll(answers));

  constructor(
    private readonly statements: Statements,
    private readonly outbox: OutboxSignal,
  ) {
    const idsOf = (keys: readonly Pick<WorkKey, 'executionId'>[]) => textArray(keys.map(({ executionId }) => executionId));
    this.found = new GatheredReads(statements, FIND, (keys) => [organizations(keys), idsOf(keys)]);
  }

  /** The row as it is at this moment, without a lock. */
  find(key: Pick<WorkKey, 'organizationId' | 'executionId'>): Promise<(Work & { readonly readAt: Date }) | undefined> {
    return this.found.read(key);
  }

  /** @returns what it is now; undefined where another beginning was first, or was answered */
  queue(work: NewWork): Promise<WorkStatus | undefined> {
    return this.queued.submit(work);
  }

  /** @throws Problem NOT_FOUND where the agent was moved to another organization just now: the credential is dead */
  poll(poll: Poll): Promise<Polled> {
    return this.polls.submit(poll);
  }

  /** Under the locks: a compare-and-set on the lease, where the facts are still the present ones. */
  start(start: Starting): Promise<BatchResult> {
    return this.starts.submit({ ...start, since: performance.now() });
  }

  /** Closes the execution and takes the result: both, or neither. */
  async answer(answer: Answering): Promise<BatchResult> {
    const result = await this.answers.submit({ ...answer, since: performance.now() });
    const { executionId } = answer.work;
    if (result === 'ok' && this.awaited.has(executionId)) this.awaited.set(executionId, answer.closing.closed);
    return result;
  }

  private async queueAll(works: readonly NewWork[]): Promise<ItemOutcome<WorkStatus | undefined>[]> {
    const first = firstOfEach(works, ({ organizationId, executionId }) => `${organizationId} ${executionId}`);
    const rows = await this.statements.run<{ executionId: string; organizationId: string; status: WorkStatus }>(QUEUE, [
      organizations(first), textArray(first.map(({ executionId }) => executionId)), textArray(first.map(({ agentId }) => agentId)),
      first.map(({ executionFence }) => executionFence), first.map(({ yields }) => yields), first.map(({ seconds }) => seconds),
    ]);
    const statusOf = new Map(rows.map(({ organizationId, executionId, status }) => [`${organizationId} ${executionId}`, status]));
    return works.map((work) => (!first.includes(work) ? { kind: 'again', afterMs: 0 }
      : { kind: 'answer', answer: statusOf.get(`${work.organizationId} ${work.executionId}`) }));
  }

  /** In the order of the agents, and one of each: two of one agent would be given the same work. */
  private async pollAll(polls: readonly Poll[]): Promise<ItemOutcome<Polled>[]> {
    const first = firstOfEach(polls, ({ node }) => node.agentId).sort((a, b) => (a.node.agentId < b.node.agentId ? -1 : 1));
    const rows = await this.statements.run<PollRow>(POLL, [
      organizations(first.map(({ node }) => node)), textArray(first.map(({ node }) => node.agentId)), first.map(({ node }) => node.epoch),
      textArray(first.map(({ node: { capabilities } }) => (capabilities === 'any' ? null : capabilities.join(' ')))),
      first.map(({ isThere }) => isThere),
    ]);
    const outcomes = new Map(first.map((poll): [Poll, ItemOutcome<Polled>] => [poll, { kind: 'answer', answer: {} }]));
    for (const { n, kind, ...row } of rows) outcomes.set(first[n - 1]!, pollOutcome(kind, row, outcomes.get(first[n - 1]!)!));
    return polls.map((poll) => outcomes.get(poll) ?? { kind: 'again', afterMs: 0 });
  }

  private startAll(starts: readonly (Starting & Since)[]): Promise<ItemOutcome<BatchResult>[]> {
    return this.inOneGo(starts, START, [
      organizations(starts.map(({ node }) => node)), textArray(starts.map(({ node }) => node.agentId)),
      JSON.stringify(starts.map(({ node, work, facts }, i) => ({
        n: i + 1, executionId: work.executionId, fence: work.fence, epoch: node.epoch, revision: facts.revision,
        organizationRevision: facts.organizationRevision, validUntil: validUntil(node, facts),
      }))),
    ]);
  }

  private async answerAll(answers: readonly (Answering & Since)[]): Promise<ItemOutcome<BatchResult>[]> {
    const closings = answers.map(({ closing }) => closing);
    const outcomes = await this.inOneGo(answers, ANSWER, [
      JSON.stringify(answers.map(({ node, work, answer }, i) => ({
        n: i + 1, organization_id: work.organizationId, agent_id: work.agentId, execution_id: work.executionId, fence: work.fence,
        epoch: node.epoch, key_id: node.keyId ?? null, answer,
      }))),
      ...closeParameters(closings),
    ]);
    signalNews(closings, this.outbox);
    return outcomes;
  }

  /** One that fails on its data fails the others too, so that each is tried alone. @throws Error where it may have been committed */
  private async inOneGo(items: readonly Since[], statement: NamedStatement, parameters: unknown[]): Promise<ItemOutcome<BatchResult>[]> {
    let results: readonly string[];
    try {
      const [row] = await this.statements.run<{ results: string[] }>(statement, parameters);
      ({ results } = row!);
    } catch (error) {
      if (isPassing(error)) throw error;
      results = items.map(() => 'failed');
    }
    return results.map((result, i) => (result === 'busy' && performance.now() - items[i]!.since < PATIENCE_MS
      ? { kind: 'again', afterMs: BUSY_PAUSE_MS } : { kind: 'answer', answer: result === 'ok' ? 'ok' : 'alone' }));
  }

  private batcher<Item, Answer>(process: (items: readonly Item[]) => Promise<ItemOutcome<Answer>[]>): Batcher<Item, Answer> {
    return new Batcher({ lanes: 1, largest: 128, longest: 100_000, rhythmMs: RHYTHM_MS, keyOf: () => '', process });
  }
}

/** When its first try began, by a clock that never steps back. */
interface Since {
  readonly since: number;
}

function pollOutcome(kind: PollRow['kind'], row: Omit<PollRow, 'n' | 'kind'>, sofar: ItemOutcome<Polled>): ItemOutcome<Polled> {
  switch (kind) {
    case 'lease': {
      const { executionId, capability, fence, deadline, leaseUntil } = row;
      return { kind: 'answer', answer: { lease: { executionId, capability, fence, deadline, leaseUntil } } };
    }
    case 'withheld':
      return sofar.kind === 'answer' ? { kind: 'answer', answer: { withheld: row.capability } } : sofar;
    case 'busy':
      return { kind: 'again', afterMs: BUSY_AGENT_PAUSE_MS };
    case 'gone':
      return { kind: 'error', error: new Problem('NOT_FOUND', 'There is no such agent.') };
  }
}

/** The earliest end of the credential or the grant that is still to come: what has ended by then was not judged by. */
function validUntil({ expiresAt }: AgentPrincipal, { grant }: Facts): Date | undefined {
  const ends = [expiresAt * 1_000, grant?.expiresAt?.getTime() ?? Infinity];
  const first = Math.min(...ends);
  return first === Infinity ? undefined : new Date(first);
}

function organizations(items: readonly { readonly organizationId: string }[]): Buffer {
  return textArray(items.map(({ organizationId }) => organizationId));
}

function firstOfEach<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[] {
  return [...new Map(items.toReversed().map((item) => [keyOf(item), item])).values()].reverse();
}
