import { Inject, Injectable } from '@nestjs/common';
import { AnchorFreshness } from '../../platform/audit/anchor-freshness.js';
import { CONFIG, type CompleteConfig } from '../../platform/config/config.js';
import { Statements } from '../../platform/database/statements/statements.js';
import { textArray } from '../../platform/database/statements/text-array.js';
import { pipelined } from '../../platform/database/transaction/pipelined.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { GrantUsageStore, type UsageWanted } from '../capabilities/grant-usage.store.js';
import { TaskOfCallQuery } from '../tasks/task-of-call.query.js';
import { type Facts, type FactsWanted, type FactsWithin, isLimited, type TaskFacts } from './facts.js';
import { factsFrom, type FactsRow, parametersOf, READ, READ_WITH_KEYS } from './facts-row.js';

/** The facts that decisions rest on, read in one statement for a whole batch, without a lock. No tables of its own. */
@Injectable()
export class FactsQuery {
  constructor(
    private readonly statements: Statements,
    private readonly usage: GrantUsageStore,
    private readonly freshness: AnchorFreshness,
    private readonly tasks: TaskOfCallQuery,
    @Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'runtimePrimary'>,
  ) {}

  async read(wanted: readonly FactsWanted[]): Promise<Facts[]> {
    const keys = wanted.map((item) => item.agentKeyId ?? null);
    const rows = keys.some((id) => id !== null)
      ? await this.statements.run<FactsRow>(READ_WITH_KEYS, [...parametersOf(wanted), textArray(keys)])
      : await this.statements.run<FactsRow>(READ, parametersOf(wanted));
    const facts = rows.map((row, i) => this.factsFrom(row, wanted[i]!));
    return this.withUsage(wanted, facts, (asked) => this.usage.read(asked));
  }

  /** Those of many, in one statement, but for what is used up of limits: where a grant has some, it has to be asked about alone. */
  async readAllWithin(tx: Tx, wanted: readonly FactsWanted[]): Promise<Facts[]> {
    const rows = await tx.query<FactsRow & Record<string, unknown>>(READ.text, parametersOf(wanted));
    return rows.map((row, i) => this.factsFrom(row, wanted[i]!));
  }

  /**
   * The same facts inside a unit of work that has locked the agent's head, and those of the other agents of a task's chain, and joined
   * the organization's barrier.
   *
   * @param without an execution whose uses are not counted, since they are its own
   */
  async readWithin(tx: Tx, wanted: FactsWithin, without?: string): Promise<Facts> {
    const { organizationId, capability, task } = wanted;
    const chain = task?.chain ?? [];
    const all: FactsWanted[] = [wanted, ...chain.map((agentId) => ({ organizationId, agentId, capability }))];
    const [read, stands] = await pipelined([
      this.readAllWithin(tx, all),
      task && without !== undefined ? this.tasks.stands(tx, organizationId, task.id, without) : Promise.resolve(true),
    ]);
    const [facts, ...others] = await this.withUsage(all, read, (asked) => this.usage.readAllWithin(tx, organizationId, asked, without));
    if (!task) return facts!;
    const delegators = others.map((one, i) => ({ agentId: chain[i]!, facts: one }));
    const taken: TaskFacts = {
      id: task.id, ancestors: [], initiator: null, delegators,
      ...(stands ? {} : { refused: 'The task, or one that it is part of, is over.' }),
    };
    return withTask(facts!, taken);
  }

  /** Adds the chains of the tasks that calls do: `facts` are those of their agents. Calls that do none stay as they are. */
  async addTasks(calls: readonly (FactsWanted & { inputText: string; taskId?: string })[], facts: readonly Facts[]): Promise<Facts[]> {
    const found = await this.tasks.read(calls);
    const links = found.flatMap((task, i) => {
      const { organizationId, capability } = calls[i]!;
      return task && 'chain' in task ? task.chain.slice(0, -1).map((agentId) => ({ organizationId, agentId, capability })) : [];
    });
    const linked = links.length === 0 ? [] : await this.read(links);
    let next = 0;
    return facts.map((own, i) => {
      const task = found[i];
      if (!task) return own;
      if ('refused' in task) return withTask(own, { id: calls[i]!.taskId!, ...task, ancestors: [], initiator: null, delegators: [] });
      const { id, ancestors, initiator, chain } = task;
      const delegators = chain.slice(0, -1).map((agentId) => ({ agentId, facts: linked[next++]! }));
      return withTask(own, { id, ancestors, initiator, delegators });
    });
  }

  private async withUsage(
    wanted: readonly FactsWanted[], facts: Facts[], read: (asked: UsageWanted[]) => Promise<{ revision: number; used: string[] }[]>,
  ): Promise<Facts[]> {
    const limited = facts.flatMap((one, i) => (isLimited(one) ? [{ one, i }] : []));
    if (limited.length === 0) return facts;
    const usages = await read(
      limited.map(({ one, i }) => ({ organizationId: wanted[i]!.organizationId, grantId: one.grant.id, limits: one.grant.limits })),
    );
    const all = [...facts];
    limited.forEach(({ one, i }, n) => (all[i] = { ...one, usage: usages[n]! }));
    return all;
  }

  private factsFrom(row: FactsRow, wanted: FactsWanted): Facts {
    return factsFrom(row, wanted, this.freshness.isStale, this.config.runtimePrimary);
  }
}

/** A stop of any agent of the chain holds the action. */
function withTask(facts: Facts, task: TaskFacts): Facts {
  const stops = new Set([facts, ...task.delegators.map((one) => one.facts)].flatMap((one) => one.stops.map(({ id }) => id)));
  return { ...facts, stops: [...stops].sort().map((id) => ({ id })), task };
}
