import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { newId } from '../../../src/domain/ids.js';
import { countersign } from '../../support/servers/command-line.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';
import type { Proof, ProofResult } from '../../support/proofs/proof.js';
import { CHECKOUT } from '../../support/servers/test-run.js';

const MOST_PROCESSES = 8;
const CHAINS = 10_000;
/** Chains that one unit of work appends to, where there are many. */
const EACH = 8;

interface Raced {
  readonly appended: number;
  readonly errors: readonly string[];
}

/**
 * One to eight processes append at once, to one chain and to ten thousand. Chains must come out whole: positions without a gap,
 * each entry behind the one before it, as many as were acknowledged; and nobody was refused.
 */
export const proof: Proof = {
  name: 'append-race',
  title: 'However many processes append at once, to one chain or to thousands, no chain forks and no entry is lost.',
  longCount: 20_000,
  shortCount: 160,
  needs: 'database',
  run: async ({ count, progress }) => {
    const database = await createTestDatabase();
    const racers: ChildProcess[] = [];
    try {
      for (let i = 0; i < MOST_PROCESSES; i++) racers.push(racerOn(database.url));
      await Promise.all(racers.map((racer) => once(racer, 'message')));
      return await races(database, racers, count, progress);
    } finally {
      for (const racer of racers) racer.kill();
      await database.drop();
    }
  },
};

function racerOn(url: string): ChildProcess {
  return fork(join(CHECKOUT, 'test/support/proofs/append-racer.mjs'), { env: { ...process.env, RACE: JSON.stringify({ url }) } });
}

async function races(
  database: TestDatabase, racers: readonly ChildProcess[], count: number, progress: (done: number) => void,
): Promise<ProofResult> {
  const [{ id: organizationId } = { id: '' }] = await database.sql<{ id: string }>('select id from organizations order by id limit 1');
  const chains = Array.from({ length: CHAINS }, () => newId('agt'));
  await database.sql('insert into audit_heads (organization_id, chain) select $1, unnest($2::text[])', [organizationId, chains]);
  const coverage: Record<string, number> = { 'entries of one chain': 0, 'entries of many chains': 0 };
  let checked = 0;
  let acknowledged = 0;
  while (checked < count) {
    for (let processes = 1; processes <= MOST_PROCESSES; processes++) {
      const kinds = [['entries of one chain', chains.slice(0, 1), 1], ['entries of many chains', chains, EACH]] as const;
      for (const [name, raced, each] of kinds) {
        const units = Math.max(1, Math.ceil(count / (2 * MOST_PROCESSES * processes)));
        const answers = racers.slice(0, processes).map(async (racer) => {
          const answer = once(racer, 'message');
          racer.send({ organizationId, chains: raced, units, each });
          const [one] = (await answer) as [Raced];
          return one;
        });
        for (const { appended, errors } of await Promise.all(answers)) {
          if (errors.length > 0) return { checked, counterexample: `${processes} processes, ${name}: ${errors[0]!}`, coverage };
          coverage[name]! += appended;
          acknowledged += appended;
        }
        checked += units * processes;
        progress(Math.min(checked, count));
      }
    }
  }
  return { checked, counterexample: await wrongIn(database, chains, acknowledged), coverage };
}

async function wrongIn(database: TestDatabase, chains: readonly string[], acknowledged: number): Promise<string | undefined> {
  const [found] = await database.sql<{ entries: number; broken: number }>(
    `select count(*)::integer as entries,
       (count(*) filter (where position is distinct from seq or prev_hash is distinct from previous))::integer as broken
     from (select seq, prev_hash, row_number() over chain as position, lag(hash) over chain as previous
           from audit_entries where chain = any ($1) window chain as (partition by chain order by seq)) e`,
    [chains],
  );
  if (found!.broken > 0) return `${found!.broken} of ${found!.entries} entries do not follow the one before them`;
  if (found!.entries !== acknowledged) return `${found!.entries} entries, and ${acknowledged} were acknowledged`;
  const { code, stdout, stderr } = await countersign(['audit', 'verify', '--json'], { DATABASE_URL: database.url });
  return code === 0 ? undefined : `the log does not verify: ${(stdout || stderr).slice(0, 1_000)}`;
}
