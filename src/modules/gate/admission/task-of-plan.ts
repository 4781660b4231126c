import { onBehalfOf } from '../../../domain/hitl/on-behalf-of.js';
import type { Facts } from '../../authority/facts.js';
import { quorumByFacts } from '../../authority/decide-by-facts.js';
import { delegatorsOf } from '../../executions/started-event.js';
import type { AdmissionItem } from './admission-item.js';

type Row = Record<string, unknown>;

/** Columns of an execution and of a request that does a task. */
export function taskColumns({ task }: Facts): Row {
  return task ? { task_id: task.id, task_chain: task.delegators.map(({ agentId }) => agentId) } : {};
}

/** Members of the entries about a task's call. */
export function taskMembers({ task }: Facts) {
  return task ? { taskId: task.id, ...delegatorsOf(task.delegators) } : {};
}

/** Members of a request's entry: the task's owner, and the person behind it. */
export function taskPeople(facts: Facts) {
  const [owner, initiator] = [taskOwnerOf(facts), facts.task?.initiator ?? undefined];
  return { ...(owner === undefined ? {} : { taskOwnerId: owner }), ...(initiator === undefined ? {} : { taskInitiatorId: initiator }) };
}

/** The task's owner, who may decide at level 0: whoever owns the first agent of the chain. */
function taskOwnerOf({ agent, task }: Facts): string | undefined {
  if (!task) return undefined;
  return task.delegators.length === 0 ? agent?.ownerId : task.delegators[0]!.facts.agent?.ownerId;
}

/**
 * Columns of a request that say by whose rules it is decided, frozen, so that nobody changes these once it is asked for. Time never
 * approves what was delegated, and every grant's quorum holds.
 */
export function rulesOf(item: AdmissionItem, facts: Facts): Row {
  const { agent, task, separationOfDuties } = facts;
  const grant = facts.grant!;
  const behind = onBehalfOf(item.context);
  const people = [behind, task?.initiator ?? undefined].flatMap((name) => (name === undefined ? [] : [name]));
  return {
    timeout_action: task && grant.timeoutAction === 'approve' ? 'reject' : grant.timeoutAction,
    separation_of_duties: separationOfDuties, initiators: [...new Set(people)],
    agent_owner_id: agent!.ownerId ?? null, agent_registered_by: agent!.registeredBy, team_id: agent!.teamId ?? null,
    vouched_by: item.principal.kind === 'agent' ? (item.principal.vouchedBy ?? null) : null,
    quorum: quorumByFacts(facts), task_owner_id: taskOwnerOf(facts) ?? null,
  };
}
