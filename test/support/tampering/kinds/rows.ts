import { newId } from '../../../../src/domain/ids.js';
import type { Tampering } from '../tampering.js';

/** The rows beside the log: what they say and what was recorded must be the same. */

/**
 * @param change what is set, or a whole statement that ends where its row is named
 * @param where of which rows; those that were erased from are not compared in what is gone
 */
export function row(name: string, table: string, change: string, where = 'true'): Tampering {
  return {
    name: `row: ${name}`, kinds: ['incomplete', 'gate_wrong'], judged: true, unseen: 'a file has no rows', in: 'unswept',
    tamper: async ({ run, organizationId, random, chains }) => {
      const rows = await run(`select ctid::text as id from ${table} where organization_id = $1 and ${where} order by ctid`,
        [organizationId]);
      if (rows.length === 0) return undefined;
      const { id } = random.of(rows) as { id: string };
      const statement = /^(?:delete|insert|with) /.test(change) ? change : `update ${table} set ${change}`;
      const changed = await run(`${statement} where organization_id = $1 and ctid = $2::tid returning 1 as one`, [organizationId, id]);
      return changed.length === 0 ? undefined : { at: chains };
    },
  };
}

/** Another text, of whatever it was. */
export const other = (column: string) => `${column} = case when ${column} is null then '"x"' else '{"x":' || to_json(${column}) || '}' end`;
const otherJson = (column: string) => `${column} = case when ${column} is null then '"x"' else json_build_object('x', ${column}) end`;
/** Another text, in which the mark of erasing stands. */
const marked = (column: string) =>
  `${column} = case when left(${column}, 1) = '{' then '{"x [erased]":"y [erased]"}' else 'y [erased]' end`;
const markedJson = (column: string) => `${column} = '{"x [erased]":"y [erased]"}'`;
export const whole = (...columns: string[]) => columns.map((column) => `coalesce(${column}::text, '') not like '%[erased]%'`).join(' and ');

const mark = (what: string, table: string, column: string, change = marked) =>
  row(`${what}, with the mark of erasing in it`, table, change(column), whole(column));

export const DAY_MS = 86_400_000;
/** A grant like one that is there. */
const given = (id: string) => `insert into capability_grants
  select (json_populate_record(g, '{"id":"${id}","capability":"mail.forward"}')).* from capability_grants g`;

/** Whom entries concern: a person's copy and erasure go by it. */
function subject(name: string, statement: string, isAny: boolean): Tampering {
  return {
    name: `subjects: ${name}`, kinds: ['column_mismatch'], judged: true, unseen: 'a file has no such table',
    tamper: async ({ run, organizationId, random, chains }) => {
      // Rows of entries that were swept go after them; what an erased value said of anybody, nobody can tell.
      const rows = await run(
        `select s.ctid::text as id from audit_subjects s where s.organization_id = $1 and s.pointer not like '/metadata/context/%'
           and exists (select from audit_entries e where e.organization_id = s.organization_id and e.id = s.entry_id) order by s.ctid`,
        [organizationId]);
      if (rows.length === 0) return undefined;
      const { id } = random.of(rows) as { id: string };
      const changed = await run(`${statement} where organization_id = $1 ${isAny ? '' : 'and ctid = $2::tid '}returning 1 as one`,
        isAny ? [organizationId] : [organizationId, id]);
      return changed.length === 0 ? undefined : { at: chains };
    },
  };
}

export const ROWS: readonly Tampering[] = [
  row("an execution's capability", 'executions', `capability = capability || 'x'`),
  row("an execution's status", 'executions', `status = case status when 'executed' then 'failed' else 'executed' end`),
  row("an execution's definition", 'executions', `definition = repeat('A', 43)`, `status <> 'blocked'`),
  row("an execution's last entry", 'executions', `audit_id = 'audit_00000000000000000000000000'`),
  row('an execution gone', 'executions', 'delete from executions'),
  row("an execution's mode", 'executions', `effective_mode = case effective_mode when 'block' then 'escalate' else 'block' end`,
    // Of what a person was asked about it is not compared.
    'hitl_request_id is null'),
  row('who granted', 'capability_grants', `granted_by = 'usr_x'`),
  row("the deciding vote's comment, its request without its nonce", 'hitl_votes', `with blank as (
      update hitl_requests q set nonce = '' from hitl_votes v where v.ctid = $2::tid and q.id = v.request_id)
    update hitl_votes set note = 'under protest'`, `exists (select from hitl_requests q where q.decision_entry_id = entry_id)`),
  row("a request's level", 'hitl_requests', 'escalation_level = escalation_level + 1'),
  row('who decided a request', 'hitl_requests', `decided_by = coalesce(decided_by, '') || 'x'`),
  row("a request's digest", 'hitl_requests', `digest = repeat('0', length(digest))`),
  row('a request gone', 'hitl_requests', 'delete from hitl_requests'),
  row("a grant's mode", 'capability_grants', `hitl_mode = case hitl_mode when 'auto' then 'block' else 'auto' end`),
  row("a grant's version", 'capability_grants', 'version = version + 1'),
  row('a grant that nobody gave', 'capability_grants', given(newId('grt'))),
  { ...row('a grant that nobody gave, behind a cut', 'capability_grants', given(newId('grt', Date.now() + DAY_MS))), in: 'swept' },
  row('a grant gone', 'capability_grants', 'delete from capability_grants'),
  row("an execution's input", 'executions', other('input'), whole('input')),
  row("an execution's context", 'executions', other('context'), whole('context')),
  row("an execution's action", 'executions', other('action'), whole('action')),
  row("an execution's reasons", 'executions', otherJson('reasons'), whole('reasons')),
  row("an execution's output", 'executions', other('output'), whole('output')),
  row("an execution's error", 'executions', otherJson('error'), whole('error')),
  row("an execution's edit", 'executions', `edit = json_build_object('by', edit ->> 'by', 'at', edit ->> 'at', 'diff', '[]'::json)`,
    `edit is not null and ${whole('edit')}`),
  row('who edited an execution', 'executions', `edit = jsonb_set(edit::jsonb, '{by}', '"usr_x"')::json`, 'edit is not null'),
  row("what an execution's report says", 'executions', `report = (report::jsonb || '{"output":"x"}')::json`, 'report is not null'),
  row('a report that is none', 'executions', `report = '"paid, says the agent"'`),
  row('a settlement that is none', 'executions', `settlement = '[{"outcome":"success","by":"root","note":"fine"}]'`),
  row('an edit that is none', 'executions', `edit = '[{"by":"root","diff":[]}]'`),
  row('more in a report', 'executions', `report = (report::jsonb || '{"approvedBy":"usr_x"}')::json`, 'report is not null'),
  row('more in an edit', 'executions', `edit = (edit::jsonb || '{"reason":"x"}')::json`, 'edit is not null'),
  row('when a report was made', 'executions', `report = (report::jsonb || '{"at":"never"}')::json`, 'report is not null'),
  row('when an execution was edited', 'executions', `edit = (edit::jsonb || '{"at":"never"}')::json`, 'edit is not null'),
  row('why an execution ended', 'executions', `reason = coalesce(reason, '') || 'x'`),
  row('how long an execution took that never ran', 'executions', 'duration_ms = 4711', 'duration_ms is null'),
  row('a request of an execution', 'executions', `hitl_request_id = coalesce(hitl_request_id, '') || 'x'`),
  row('an edit that a request does not show', 'hitl_requests', 'edited_at = null', 'edited_at is not null'),
  row('an edit that nobody made', 'hitl_requests', 'edited_at = now()', 'edited_at is null'),
  row('how long an execution took', 'executions', 'duration_ms = duration_ms + 1', 'duration_ms is not null'),
  row('who asked for an execution', 'executions', `requested_by = 'usr_x'`),
  row('whether an execution was flagged', 'executions', 'flagged = not flagged'),
  row("a request's input", 'hitl_requests', other('input'), whole('input')),
  row("a request's context", 'hitl_requests', other('context'), whole('context')),
  row("a request's action", 'hitl_requests', other('action'), whole('action')),
  row("a request's reasons", 'hitl_requests', otherJson('reasons'), `version = 1 and ${whole('reasons')}`),
  row("a request's comment", 'hitl_requests', other('note'), whole('note')),
  row('why a request was escalated', 'hitl_requests', other('escalation_reason'), whole('escalation_reason')),
  row('to whom a request was escalated', 'hitl_requests', `escalated_to = coalesce(escalated_to, '') || 'x'`),
  row('what a request was before it was edited', 'hitl_requests', other('requested_input'), whole('requested_input')),
  row("a request's edit", 'hitl_requests', `edit_diff = '[]'`, `edit_diff is not null and ${whole('edit_diff')}`),
  row('who edited a request', 'hitl_requests', `edited_by = coalesce(edited_by, '') || 'x'`),
  row('who made a request', 'hitl_requests', `created_by = 'usr_x'`),
  row('whether a request was flagged', 'hitl_requests', 'flagged = not flagged'),
  row('how a request ended', 'hitl_requests',
    `decision_outcome = case decision_outcome when 'approved' then 'rejected' else 'approved' end`),
  row('by what a request ended', 'hitl_requests', `decision_by = case decision_by when 'human' then 'system' else 'human' end`),
  row('a vote gone', 'hitl_votes', 'delete from hitl_votes'),
  row('who voted', 'hitl_votes', `voter = 'usr_x'`),
  row('what was voted on', 'hitl_votes', `digest = repeat('0', length(digest))`),
  row('on which version was voted', 'hitl_votes', 'version = version + 7'),
  row("a vote's comment", 'hitl_votes', other('note'), whole('note')),
  row("a vote's entry", 'hitl_votes', `entry_id = 'audit_00000000000000000000000000'`),
  row('a vote that nobody gave', 'hitl_votes', `insert into hitl_votes
    select organization_id, request_id, version, digest, 'usr_x', note, entry_id, voted_at from hitl_votes`),
  row('a vote on a request that is not there', 'hitl_votes', `insert into hitl_votes
    select organization_id, 'hitl_x', version, digest, voter, note, entry_id, voted_at from hitl_votes`),
  mark("an execution's input", 'executions', 'input'),
  mark("an execution's action", 'executions', 'action'),
  mark("an execution's output", 'executions', 'output'),
  mark("an execution's reasons", 'executions', 'reasons', markedJson),
  mark("a request's input", 'hitl_requests', 'input'),
  mark("a request's context", 'hitl_requests', 'context'),
  mark("a request's comment", 'hitl_requests', 'note'),
  subject('emptied', 'delete from audit_subjects', true),
  subject('one gone', 'delete from audit_subjects', false),
  subject('one more', `insert into audit_subjects
    select organization_id, 'usr_x', entry_id, pointer, chain, seq, event, capability, outcome, "timestamp" from audit_subjects`, false),
  subject('of somebody else', `update audit_subjects set user_id = 'usr_x'`, false),
  subject('another place', `update audit_subjects set pointer = '/metadata/x'`, false),
  subject('another entry', `update audit_subjects set entry_id = 'audit_00000000000000000000000000'`, false),
  subject('another position', 'update audit_subjects set seq = seq + 1', false),
  subject('another event', `update audit_subjects set event = event || 'x'`, false),
  subject('another time', `update audit_subjects set "timestamp" = '2020-01-01T00:00:00.000Z'`, false),
];
