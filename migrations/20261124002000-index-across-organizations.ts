import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A kind of entry: hashed, as before, but without the organization, which is a key of its own behind it. */
interface KindIndex {
  readonly name: string;
  readonly table: 'audit_entries' | 'audit_subjects';
  readonly key: 'id' | 'entry_id';
  readonly hashed: readonly string[];
  /** What stands in its leaves besides, to be compared without reading the entry. */
  readonly included?: string;
  readonly where?: string;
}

const KINDS: readonly KindIndex[] = [
  { name: 'audit_entries_event', table: 'audit_entries', key: 'id', hashed: ['event'], included: 'event, "timestamp"' },
  {
    name: 'audit_entries_capability', table: 'audit_entries', key: 'id', hashed: ['capability', 'event'],
    included: 'capability, event, "timestamp"', where: 'capability is not null',
  },
  { name: 'audit_subjects_event', table: 'audit_subjects', key: 'entry_id', hashed: ['user_id', 'event'] },
];

/**
 * Why: whoever sees all organizations asked the indexes of the log for each organization and each of dozens of event types, most of
 * which it does not have. With the organization behind the hash, what one has stands together as before, the organizations that have
 * a kind are stepped through, and a kind is counted across all of them. The two of the entries stay as wide as they were: the
 * organization stood in their leaves already. Whoever asks for an agent finds the few organizations that it has been in.
 */
export class IndexAcrossOrganizations20261124002000 implements MigrationInterface {
  name = 'IndexAcrossOrganizations20261124002000';

  async up(runner: QueryRunner): Promise<void> {
    for (const kind of KINDS) await replace(runner, kind, kind.hashed, ['organization_id', kind.key], kind.included);
    await runner.query('create index audit_heads_chain on audit_heads (chain)');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop index audit_heads_chain');
    for (const kind of KINDS) {
      const included = kind.included && `organization_id, ${kind.included}`;
      await replace(runner, kind, ['organization_id', ...kind.hashed], [kind.key], included);
    }
  }
}

async function replace(
  runner: QueryRunner, { name, table, where }: KindIndex, hashed: readonly string[], keys: readonly string[], included?: string,
): Promise<void> {
  await runner.query(`drop index ${name}`);
  await runner.query(`create index ${name} on ${table}
    (hashtextextended((${hashed.join(` || ' ' || `)}) collate "C", 0), ${keys.join(', ')})
    ${included === undefined ? '' : `include (${included})`} ${where === undefined ? '' : `where ${where}`}`);
  // Nothing is planned by how hashes are spread (AnalyzeLess).
  await runner.query(`alter index ${name} alter column 1 set statistics 0`);
}
