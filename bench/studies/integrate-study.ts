// What taking leaves into their trees costs, as a share of merely reading the same queue by the same driver.
import { LeafIntegrator, type Leads } from '../../src/modules/audit/checkpoints/leaf-integrator.js';
import { SignedState } from '../../src/modules/audit/checkpoints/signed-state.js';
import type { RunStatement } from '../../src/platform/auth/credentials/credential-source.js';
import { withClaimedLeadership } from '../../src/platform/database/leadership/claimed-leadership.js';
import { median } from '../measure.js';
import { cell, table, whole } from '../report.js';
import type { Study, StudyContext } from '../study.js';

const LEAVES = 200_000;
/** Leaves of one commit: what a loaded gate writes at once, and a single call. */
const COMMITS = [64, 2] as const;
const ROUNDS = 4;
const ROWS_A_READ = 1_000;
const ORGANIZATION = `'org_' || repeat('0', 38)`;

interface Round {
  readonly perCommit: number;
  /** Leaves a second. */
  readonly bare: number;
  readonly integrated: number;
}

/**
 * For an organization that does not exist, while no server leads: afterwards its tree is taken out again, before any checkpoint would
 * vouch for leaves without entries.
 */
export const integrateStudy: Study = {
  key: 'integrate',
  onlyWhenNamed: true,
  run: async ({ stage, progress }) => {
    const rounds = await withClaimedLeadership(stage.databaseUrl, async (lead) => {
      try {
        return await measured(lead, progress);
      } finally {
        await lead.transact(takeOut);
      }
    });
    return { text: textOf(rounds), values: { figure: 'integrate', leaves: LEAVES, rounds } };
  },
};

async function takeOut(run: RunStatement): Promise<void> {
  for (const table of ['audit_tree_queue', 'audit_tree_leaves', 'audit_tree_tiles', 'audit_trees']) {
    await run(`alter table ${table} disable trigger user`, []);
    await run(`delete from ${table} where organization_id = ${ORGANIZATION}`, []);
    await run(`alter table ${table} enable trigger user`, []);
  }
}

async function measured(lead: Leads, progress: StudyContext['progress']): Promise<Round[]> {
  const rounds: Round[] = [];
  progress.begin('integrating', ROUNDS * COMMITS.length);
  const integrator = new LeafIntegrator(lead, SignedState.unproven());
  let written = 0;
  for (let round = 0; round < ROUNDS; round++) {
    for (const perCommit of COMMITS) {
      await lead.run((run) => run(FILL, [written, LEAVES, perCommit]));
      await lead.run((run) => run('vacuum (analyze) audit_tree_queue', []));
      written += LEAVES;
      const bare = await rate(() => lead.run(async (run) => {
        let after = '0';
        for (;;) {
          const rows = await run(READ, [after, ROWS_A_READ]);
          if (rows.length === 0) return;
          after = rows.at(-1)!.id as string;
        }
      }));
      const integrated = await rate(async () => {
        while ((await integrator.round()).more);
      });
      // The first one warms everything up.
      if (round > 0) rounds.push({ perCommit, bare, integrated });
      progress.step(`${whole(integrated)} leaves/s`);
    }
  }
  return rounds;
}

async function rate(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return LEAVES / ((performance.now() - begun) / 1_000);
}

const FILL = `
  insert into audit_tree_queue (organization_id, chains, seqs, hashes)
  select ${ORGANIZATION}, array_agg('agt_' || lpad((n % 1000)::text, 38, '0') order by n),
    array_agg(n / 1000 order by n), array_agg(encode(sha256(convert_to(n::text, 'UTF8')), 'hex') order by n)
  from generate_series($1::bigint, $1::bigint + $2::bigint - 1) n group by n / $3::bigint order by n / $3::bigint`;

const READ = `
  select id, to_json(chains) as chains, to_json(seqs) as seqs, to_json(hashes) as hashes
  from audit_tree_queue where organization_id = ${ORGANIZATION} and id > $1 order by id limit $2`;

function textOf(rounds: readonly Round[]): string {
  const share = ({ bare, integrated }: Round) => (100 * integrated) / bare;
  const of = (perCommit: number) => rounds.filter((round) => round.perCommit === perCommit);
  const lines = COMMITS.map((perCommit) => {
    const those = of(perCommit);
    const [ratio, leaves] = [median(those.map(share)), median(those.map(({ integrated }) => integrated))];
    return `  Integrating ${whole(LEAVES)} leaves, ${perCommit} a commit: ${cell(ratio)} % of a bare read, ${whole(leaves)} leaves/s`;
  });
  const rows = rounds.map((round) => [String(round.perCommit), whole(round.integrated), whole(round.bare), cell(share(round))]);
  return ['', ...lines, '', ...table(['leaves a commit', 'integrated, leaves/s', 'bare read', '% of bare'], rows), ''].join('\n');
}
