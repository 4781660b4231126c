import { Injectable } from '@nestjs/common';
import type { NamedStatement } from '../../platform/database/statements/named-statement.js';
import { Statements } from '../../platform/database/statements/statements.js';
import { textArray } from '../../platform/database/statements/text-array.js';
import type { Tx } from '../../platform/database/transaction/tx.js';

/** A call, which may be a task's. */
export interface CallOfAgent {
  organizationId: string;
  agentId: string;
  capability: string;
  /** Canonical text of its input. */
  inputText: string;
  /** As its context names it; a task that is not there is a label without rights. */
  taskId?: string;
  /** The call is to be a part of the task, and may be of another capability. */
  isPart?: true;
}

/** The task that a call does. */
export interface TaskOfCall {
  readonly id: string;
  /** Agents, the first to have it first and the one that acts last. */
  readonly chain: readonly string[];
  /** The tasks that it is part of. */
  readonly ancestors: readonly string[];
  /** The person behind it. */
  readonly initiator: string | null;
}

/** The open task that a call does, none, or why it may not do the one that it names. */
export type FoundTask = TaskOfCall | { readonly refused: string } | undefined;

interface Named extends TaskOfCall {
  readonly toAgentId: string;
  readonly capability: string;
  readonly isOpen: boolean;
}

const SHOWN = `'id', t.id, 'chain', t.chain, 'ancestors', t.ancestors, 'initiator', t.initiator, 'toAgentId', t.to_agent_id,
  'capability', t.capability`;

// Whoever leaves the id out gains nothing by it: an equal call is the task's all the same, the oldest one's.
const TASKS_OF_CALLS: NamedStatement = {
  name: 'tasks-of-calls-1',
  text: `
    select named.task as named, equal.task as equal
    from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[]) with ordinality
           as i(organization_id, agent_id, capability, input, task_id, n)
    left join lateral (
      select json_build_object(${SHOWN}, 'isOpen',
        t.status = 'assigned' and not has_ended_task_v1(t.organization_id, t.ancestors)) as task
      from tasks t where t.organization_id = i.organization_id and t.id = i.task_id limit 1) named on true
    left join lateral (
      select json_build_object(${SHOWN}, 'isOpen', true) as task from tasks t
      where t.organization_id = i.organization_id and t.to_agent_id = i.agent_id and t.status = 'assigned' and t.capability = i.capability
        and t.input = i.input and not has_ended_task_v1(t.organization_id, t.ancestors)
      order by t.id limit 1) equal on true
    order by i.n`,
};

/** Which tasks calls do, for the gate. */
@Injectable()
export class TaskOfCallQuery {
  constructor(private readonly statements: Statements) {}

  async read(calls: readonly CallOfAgent[]): Promise<FoundTask[]> {
    return foundIn(calls, await this.statements.run(TASKS_OF_CALLS, parametersOf(calls)));
  }

  /** The same inside a unit of work. */
  async readWithin(tx: Tx, call: CallOfAgent): Promise<FoundTask> {
    return foundIn([call], await tx.query(TASKS_OF_CALLS.text, parametersOf([call])))[0];
  }

  /** Whether a task that an execution has taken still stands: neither it is another's, nor has what it is part of ended. */
  async stands(tx: Tx, organizationId: string, taskId: string, executionId: string): Promise<boolean> {
    const [row] = await tx.query<{ stands: boolean }>(
      `select t.execution_id = $3 and not has_ended_task_v1(t.organization_id, t.ancestors) as stands
       from tasks t where t.organization_id = $1 and t.id = $2`,
      [organizationId, taskId, executionId],
    );
    return row?.stands === true;
  }
}

function parametersOf(calls: readonly CallOfAgent[]): unknown[] {
  return [
    textArray(calls.map((call) => call.organizationId)), textArray(calls.map((call) => call.agentId)),
    textArray(calls.map((call) => call.capability)), textArray(calls.map((call) => call.inputText)),
    textArray(calls.map((call) => call.taskId ?? null)),
  ];
}

function foundIn(calls: readonly CallOfAgent[], rows: readonly object[]): FoundTask[] {
  return (rows as readonly { named: Named | null; equal: Named | null }[]).map(({ named, equal }, i) => {
    if (named === null) return equal ?? undefined;
    const { agentId, capability, isPart } = calls[i]!;
    if (named.toAgentId !== agentId) return { refused: 'The task that context names is another agent\'s.' };
    if (!named.isOpen) return { refused: 'The task that context names is not open any more.' };
    return isPart || named.capability === capability ? named : { refused: `The task that context names is ${named.capability}.` };
  });
}
