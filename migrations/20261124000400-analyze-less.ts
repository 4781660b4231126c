import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Nobody asks for rows by what these hold, so nothing need be known of how it is spread. */
const READ_BY_KEY: Readonly<Record<string, readonly string[]>> = {
  audit_entries: ['payload', 'disclosures', 'hash', 'prev_hash'],
  executions: ['input', 'context', 'output', 'traceparent'],
  hitl_requests: ['input', 'context', 'requested_input', 'nonce', 'digest', 'note'],
};

/** Hashes: each is asked for as it is, in the one index that has it, whatever an estimate would say. */
const HASHED: Readonly<Record<string, readonly number[]>> = {
  audit_entries_event: [1], audit_entries_capability: [1], audit_entries_agent_event: [1], audit_entries_agent_capability: [1],
  audit_entries_no_fork: [1, 2], audit_subjects_event: [1], audit_subjects_capability: [1], audit_subjects_chain: [1],
};

/**
 * Why: PostgreSQL looks through a growing table again and again to know its columns, on a core that others want. Of the log, half of
 * that time went into texts and hashes by which nothing is ever planned.
 */
export class AnalyzeLess20261124000400 implements MigrationInterface {
  name = 'AnalyzeLess20261124000400';

  async up(runner: QueryRunner): Promise<void> {
    await setStatistics(runner, 0);
  }

  /** -1: as the server says. */
  async down(runner: QueryRunner): Promise<void> {
    await setStatistics(runner, -1);
  }
}

async function setStatistics(runner: QueryRunner, target: 0 | -1): Promise<void> {
  for (const [table, columns] of Object.entries(READ_BY_KEY)) {
    for (const column of columns) await runner.query(`alter table ${table} alter column ${column} set statistics ${target}`);
  }
  for (const [index, columns] of Object.entries(HASHED)) {
    for (const column of columns) await runner.query(`alter index ${index} alter column ${column} set statistics ${target}`);
  }
}
