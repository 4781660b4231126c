import type { MigrationInterface, QueryRunner } from 'typeorm';
import { NODE_POLL } from './node/poll.js';
import { NODE_ANSWER, NODE_START } from './node/start-and-answer.js';
import { NoWayBack } from './shared/no-way-back.js';

/**
 * Why: work that an agent's own node does waits for that node in a row of its own, so that any server can hand it out, take its answer,
 * and know after a crash whether anybody had begun it. Inputs and outputs stay in `executions`.
 */
export class CreateNodeWork20261121000900 implements MigrationInterface {
  readonly name = 'CreateNodeWork20261121000900';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  async down(): Promise<void> {
    throw new NoWayBack('what nodes have begun is a part of the record; restore a backup of before instead');
  }
}

const STATEMENTS = [
  // fence: rises with each lease, so that whoever had an earlier one changes nothing. execution_fence: of the execution's beginning that
  // the work is of. epoch: of the agent when the work was leased; a lease dies with it. yields: a fallback takes over what is withdrawn.
  // answer: a keyed digest, by which the same result is known when it comes again.
  `create table node_work (
    organization_id text collate "C" not null,
    execution_id    text collate "C" not null,
    agent_id        text collate "C" not null,
    status          text not null check (status in ('queued', 'leased', 'started', 'answered', 'withdrawn')),
    fence           integer not null default 0,
    execution_fence integer not null,
    yields          boolean not null,
    epoch           bigint,
    queued_at       timestamptz(3) not null default clock_timestamp(),
    deadline        timestamptz(3) not null,
    lease_until     timestamptz(3),
    started_at      timestamptz(3),
    ended_at        timestamptz(3),
    answer          text,
    is_late         boolean not null default false,
    primary key (organization_id, execution_id)
  ) with (fillfactor = 70)`,
  `create index node_work_waiting on node_work (organization_id, agent_id, queued_at) where status in ('queued', 'leased')`,
  `create index node_work_of_agent on node_work (organization_id, agent_id, deadline)`,
  `create index node_work_age on node_work (deadline)`,
  // What a node says of itself, beside the time at which it was last seen.
  `alter table agents add column node_load real, add column node_version text`,
  NODE_POLL, NODE_START, NODE_ANSWER,
];
