import { EVENTS } from '../../../../src/domain/audit/catalogue/audit-events.js';
import { readEntry } from '../../../../src/domain/audit/entry/read-entry.js';
import { AGENT_EVENTS } from '../../../../src/domain/audit/replay/state/agent-chain.js';
import type { StoredEntry } from '../../../../src/domain/audit/entry/stored-entry.js';
import { newId } from '../../../../src/domain/ids.js';
import { isJsonObject, type JsonObject } from '../../../../src/domain/json.js';
import { hashed, withPayload } from '../altered-entry.js';
import type { TamperTarget, Tampering } from '../tampering.js';
import { said, UNSEEN } from './lives.js';
import { DAY_MS, other, row, whole } from './rows.js';

/** Tasks, the chains of agents behind calls, and secrets: rows, and what is properly appended and is not so. */

/** A task like one that is there. */
const given = (id: string) => `insert into tasks select (json_populate_record(t, '{"id":"${id}"}')).* from tasks t`;
const textColumn = (what: string, column: string) => row(`a task's ${what}`, 'tasks', `${column} = coalesce(${column}, '') || 'x'`);

const TASK_ROWS: readonly Tampering[] = [
  textColumn('capability', 'capability'), textColumn('parent', 'parent_id'), textColumn('giver', 'from_agent_id'),
  textColumn('agent', 'to_agent_id'), textColumn('author', 'delegated_by'), textColumn('initiator', 'initiator'),
  textColumn('routing decision', 'decision_id'), textColumn('execution', 'execution_id'), textColumn('reason', 'reason'),
  row("a task's ancestors", 'tasks', `ancestors = case cardinality(ancestors) when 0 then array['task_x'] else '{}' end`),
  row('a task without those who gave it', 'tasks', 'chain = chain[cardinality(chain):]', 'cardinality(chain) > 1'),
  row('a task with one agent more', 'tasks', `chain = array_prepend('agt_x', chain)`),
  row('a task of no agent at all', 'tasks', `chain = '{}'`),
  row("a task's input", 'tasks', other('input'), whole('input')),
  row("a task's description", 'tasks', other('description'), whole('description')),
  row("a task's status", 'tasks', `status = case status when 'assigned' then 'cancelled' else 'assigned' end`),
  row('a task gone', 'tasks', 'delete from tasks'),
  row('a task that nobody gave', 'tasks', given(newId('task'))),
  { ...row('a task that nobody gave, behind a cut', 'tasks', given(newId('task', Date.now() + DAY_MS))), in: 'swept' },
  row("an execution's task", 'executions', `task_id = coalesce(task_id, '') || 'x'`),
  row("the agents of an execution's task", 'executions', `task_chain = '{}'`, 'cardinality(task_chain) > 0'),
  row("a request's task", 'hitl_requests', `task_id = coalesce(task_id, '') || 'x'`),
  row("the agents of a request's task", 'hitl_requests', `task_chain = '{}'`, 'cardinality(task_chain) > 0'),
  row("the owner of a request's task", 'hitl_requests', `task_owner_id = coalesce(task_owner_id, '') || 'x'`),
  row("a secret's origins", 'secrets', `origins = array['https://elsewhere.example']`),
  row("a secret's value", 'secrets', `sealed = decode('00', 'hex') || sealed`),
  row('a secret gone', 'secrets', 'delete from secrets'),
  row('a secret that nobody set', 'secrets', `insert into secrets
    select organization_id, 'not-set', origins, sealed, created_at, updated_at from secrets`),
];

const delegatorsOf = (entry: StoredEntry): JsonObject[] => {
  const { delegators = [] } = entry.payload.includes('"delegators"') ? readEntry(entry).metadata : {};
  return Array.isArray(delegators) ? delegators.filter(isJsonObject) : [];
};
const isDelegated = (entry: StoredEntry, ...events: readonly string[]) => events.includes(entry.event) && delegatorsOf(entry).length > 0;

/** A call for a task that never was: as one that is there, with other agents behind it. */
function call(
  name: string, events: readonly string[], behind: (delegators: JsonObject[], place: TamperTarget) => Promise<JsonObject[]>,
  isLike: (entry: StoredEntry, place: TamperTarget) => boolean = () => true,
): Tampering {
  return {
    name: `a task's call: ${name}`, kinds: ['gate_wrong'], judged: true, unseen: UNSEEN, in: 'unswept',
    tamper: async (place) => {
      const like = place.entry((entry) =>
        isDelegated(entry, ...events) && !entry.payload.includes('"decisionId"') && isLike(entry, place));
      if (!like) return undefined;
      const members = Object.entries(readEntry(like).metadata).filter(([name]) => name in EVENTS['execution.started'].members);
      const { hitlId: _, taskId: __, basis: ___, ...same } = Object.fromEntries(members);
      const metadata = { ...same, executionId: newId('exec'), delegators: await behind(delegatorsOf(like), place) };
      await said(place, like.chain, { type: 'execution.started', capability: like.capability, metadata }, new Date());
      return { at: [like.chain] };
    },
  };
}

/** As of now, by the grants that the entry names. */
async function readNow(delegators: readonly JsonObject[], { run, organizationId }: TamperTarget): Promise<JsonObject[]> {
  const heads = await run('select chain, seq from audit_heads where organization_id = $1', [organizationId]);
  return delegators.map((one) => ({ ...one, position: Number(heads.find(({ chain }) => chain === one['agentId'])?.['seq'] ?? 0) }));
}

export const DELEGATIONS: readonly Tampering[] = [
  ...TASK_ROWS,
  call('as before another agent of the chain was changed', ['execution.started'], (delegators) => Promise.resolve(delegators),
    (entry, { entries }) => delegatorsOf(entry).some(({ agentId, position }) =>
      entries.some(({ chain, seq, event }) => chain === agentId && seq > Number(position) && AGENT_EVENTS.includes(event)))),
  call('another agent of the chain asks a person first', ['hitl.created'], readNow),
  call('by another grant than the one that held', ['execution.started'], async (delegators, place) =>
    (await readNow(delegators, place)).map((one) => ({ ...one, grantId: newId('grt') }))),
  call('by a version of a grant that is to come', ['execution.started'], async (delegators, place) =>
    (await readNow(delegators, place)).map((one) => ({ ...one, grantVersion: 9 }))),
  call('an agent that nobody knows', ['execution.started'], () => Promise.resolve([{ agentId: newId('agt'), position: 3 }])),
  call('an agent that had left', ['execution.started'], (delegators) =>
    Promise.resolve(delegators.map((one) => ({ ...one, position: 0 })))),
  call('positions that no chain has', ['execution.started'], (delegators) =>
    Promise.resolve(delegators.map((one) => ({ ...one, position: -1 })))),
  {
    name: 'the agents of a task left out of its entry, hashed anew', kinds: ['tree_mismatch', 'forked', 'edited'],
    tamper: async (place) => {
      const entry = place.entry((one) => delegatorsOf(one).length > 0);
      if (!entry) return undefined;
      const payload = JSON.parse(entry.payload) as JsonObject & { metadata: JsonObject };
      const { delegators: _, ...metadata } = payload.metadata;
      const changed = hashed(withPayload(entry, { ...payload, metadata }));
      await place.remove([entry]);
      await place.insert([changed]);
      return { at: [entry.chain, entry.organizationId] };
    },
  },
];
