import {
  ENTRY_PARAMETERS, entryColumns, SUBJECT_PARAMETERS, subjectColumns,
} from '../../../platform/database/transaction/chain-writer.js';
import { clockAgrees } from '../../../platform/database/transaction/clock-skew.js';
import type { NamedStatement } from '../../../platform/database/statements/named-statement.js';
import { textArray } from '../../../platform/database/statements/text-array.js';
import type { Facts } from '../../authority/facts.js';
import type { AdmissionItem } from './admission-item.js';
import type { AdmissionPlan } from './admission-plan.js';

/** An item of a batch, the facts that it was decided by, and what is written for it if the facts are unchanged. */
export interface PlannedItem {
  readonly item: AdmissionItem;
  readonly facts: Facts;
  readonly plan: AdmissionPlan;
}

/** `results` is null where the clocks of server and database differ: then nothing was compared or written. */
export interface CommitAnswer {
  readonly now: Date;
  readonly results: string[] | null;
}

/** What a batch writes, as rows; `item` in a row is the number of its item, from 1. */
class BatchRows {
  readonly keys: unknown[] = [];
  readonly executions: unknown[] = [];
  readonly requests: unknown[] = [];
  readonly effects: unknown[] = [];
  readonly usage: unknown[] = [];
  readonly uses: unknown[] = [];
  readonly links: unknown[] = [];
  readonly tasks: unknown[] = [];
  readonly entryItems: number[] = [];
  readonly subjectItems: number[] = [];
  readonly entries: Buffer[];
  readonly subjects: Buffer[];
  /** The time of the last entry. */
  readonly stamp: string;

  /** @param cap how many requests an agent may have open */
  constructor(readonly items: readonly PlannedItem[], readonly cap: number) {
    items.forEach((one, i) => this.add(one, i + 1));
    const entries = items.flatMap(({ plan }) => plan.entries);
    this.entries = entryColumns(entries);
    this.subjects = subjectColumns(entries);
    this.stamp = entries.at(-1)!.timestamp;
  }

  private add({ item: { claim, organizationId }, facts, plan }: PlannedItem, item: number): void {
    const { executionId } = plan;
    const delegators = facts.task?.delegators ?? [];
    const limited = [facts, ...delegators.map((one) => one.facts)]
      .flatMap(({ grant, usage }) => (grant && usage ? [{ grant, usage }] : []));
    // A grant that several agents of a chain share was read once for each.
    for (const { grant, usage } of new Map(limited.map((one) => [one.grant.id, one])).values()) {
      this.usage.push({ item, organizationId, grantId: grant.id, revision: usage.revision });
    }
    const waiting = plan.opens === 1;
    for (const use of plan.uses) this.uses.push({ item, organizationId, grantId: facts.grant!.id, executionId, waiting, ...use });
    for (const { agentId, facts: { revision } } of delegators) this.links.push({ item, organizationId, agentId, revision });
    if (takesTask(plan)) this.tasks.push({ item, organizationId, id: facts.task!.id, executionId, ancestors: facts.task!.ancestors });
    if (claim && executionId !== undefined) this.keys.push({ item, ...claim, executionId });
    if (plan.execution) this.executions.push({ item, ...plan.execution });
    if (plan.request) this.requests.push({ item, ...plan.request });
    for (const effect of plan.effects) {
      this.effects.push({ item, organization_id: effect.organizationId, kind: effect.kind, payload: effect.payload });
    }
    for (const written of plan.entries) {
      this.entryItems.push(item);
      for (let named = written.subjects.length; named > 0; named--) this.subjectItems.push(item);
    }
  }
}

type Parameter = readonly [name: string, value: (rows: BatchRows) => unknown];

const json = (name: string, rowsOf: (rows: BatchRows) => unknown): Parameter => [name, (rows) => JSON.stringify(rowsOf(rows))];

/** Each parameter of the function by its name there (migrations/gate-and-hitl/commit.ts), in the order in which it is sent. */
const PARAMETERS: readonly Parameter[] = [
  ['p_item_organizations', ({ items }) => textArray(items.map(({ item }) => item.organizationId))],
  ['p_item_agents', ({ items }) => textArray(items.map(({ item }) => item.agentId))],
  json('p_items', ({ items, cap }) => items.map((one, i) => conditionsOf(one, i + 1, cap))),
  json('p_keys', ({ keys }) => keys),
  json('p_executions', ({ executions }) => executions),
  json('p_requests', ({ requests }) => requests),
  json('p_effects', ({ effects }) => effects),
  json('p_usage', ({ usage }) => usage),
  json('p_uses', ({ uses }) => uses),
  json('p_links', ({ links }) => links),
  json('p_tasks', ({ tasks }) => tasks),
  ['p_entry_items', ({ entryItems }) => entryItems],
  ...ENTRY_PARAMETERS.map((name, i): Parameter => [name, ({ entries }) => entries[i]]),
  ['p_subject_items', ({ subjectItems }) => subjectItems],
  ...SUBJECT_PARAMETERS.map((name, i): Parameter => [name, ({ subjects }) => subjects[i]]),
];

/** The gate's commit: where the clocks agree, one commit result for each item. */
export const COMMIT: NamedStatement = {
  name: 'gate-commit-7',
  text: `select clock_timestamp() as now, case when ${clockAgrees(`$${PARAMETERS.length + 1}`, 'clock_timestamp()')} then
    gate_commit_v1(${PARAMETERS.map(([name], i) => `${name} => $${i + 1}`).join(', ')}) end as results`,
};

/** @param cap how many requests an agent may have open */
export function commitParameters(planned: readonly PlannedItem[], cap: number): unknown[] {
  const rows = new BatchRows(planned, cap);
  return [...PARAMETERS.map(([, valueOf]) => valueOf(rows)), rows.stamp];
}

/** A task is taken by an execution that begins or waits. What is blocked leaves the task to be done. */
export function takesTask({ execution }: AdmissionPlan): boolean {
  return execution?.['task_id'] !== undefined && execution['status'] !== 'blocked';
}

/** What has to be true under the locks, so that this item is committed. */
function conditionsOf({ item, facts, plan }: PlannedItem, n: number, cap: number): unknown {
  const grants = [facts, ...(facts.task?.delegators ?? []).map((one) => one.facts)].flatMap(({ grant }) => grant ?? []);
  const expiries = [
    ...(item.principal.kind === 'agent' && item.principal.expiresAt !== Infinity ? [item.principal.expiresAt * 1000] : []),
    ...grants.flatMap(({ expiresAt }) => (expiresAt ? [expiresAt.getTime()] : [])),
  ];
  // A grant that has expired stays so: only expiries that are still to come limit the decision.
  const ahead = expiries.filter((expiry) => expiry > facts.now.getTime());
  return {
    n,
    revision: facts.revision,
    organizationRevision: facts.organizationRevision,
    // By the database's clock: only the time that is left is measured by ours.
    deadline: new Date(facts.now.getTime() + item.deadline.getTime() - Date.now()),
    opens: plan.opens,
    cap,
    ...(item.principal.kind === 'root' ? { rootKeyHash: item.principal.keyHash } : {}),
    ...(ahead.length > 0 ? { validUntil: new Date(Math.min(...ahead)) } : {}),
  };
}
