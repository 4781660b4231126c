import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { rotateSigningKey } from '../../../src/modules/audit/keys/rotate-signing-key.js';
import { aged, archiveFolder, swept } from '../../support/retention/retention.js';
import { alteredArchives } from '../../support/tampering/kinds/altered-archives.js';
import { bigLog, SEED, type BigLog } from '../../support/tampering/big-log.js';
import { CHAINS } from '../../support/tampering/kinds/chains.js';
import { DELEGATIONS } from '../../support/tampering/kinds/delegations.js';
import { ENTRIES } from '../../support/tampering/kinds/entries.js';
import { ERASURES } from '../../support/tampering/kinds/erasures.js';
import { falseAlarm, instance } from '../../support/tampering/instance.js';
import { KEYS } from '../../support/tampering/kinds/keys.js';
import { LIVES } from '../../support/tampering/kinds/lives.js';
import { loggedLog, type LoggedLog } from '../../support/tampering/logged-log.js';
import type { Tampering } from '../../support/tampering/tampering.js';
import { ROWS } from '../../support/tampering/kinds/rows.js';
import { SIGNATURES } from '../../support/tampering/kinds/signatures.js';
import { SWEEPS } from '../../support/tampering/kinds/retention-runs.js';
import { TREES } from '../../support/tampering/kinds/trees.js';
import { VALUES } from '../../support/tampering/kinds/values.js';
import { verifiedLog } from '../../support/log/verified-log.js';
import type { Proof, ProofResult } from '../../support/proofs/proof.js';

const ALL: readonly Tampering[] = [
  ...ENTRIES, ...VALUES, ...CHAINS, ...TREES, ...SIGNATURES, ...KEYS, ...LIVES, ...ERASURES, ...SWEEPS, ...ROWS,
  ...DELEGATIONS,
];
const BEFORE_SWEEP = ALL.filter((one) => one.in !== 'swept');
// What only a sweep makes possible comes first: a short run meets all of it.
const OF_SWEEPS = [...SWEEPS, ...ALL.filter((one) => one.in === 'swept' && !SWEEPS.includes(one))];
const AFTER_SWEEP = [...OF_SWEEPS, ...ALL.filter((one) => one.in !== 'unswept' && !OF_SWEEPS.includes(one))];
/** Every so many-th instance is given to the stand-alone verifier, too. */
const STAND_ALONE_EACH = 5;
const SHARE_OF_ARCHIVES = 0.02;
/** Transactions that are undone leave dead rows. */
const VACUUM_EACH = 400;
/** Cases from which a run is a long one, and what a shorter one has of its entries: as few as every kind still finds a place in. */
const LONG = 300;
const SHARE_OF_SHORT = 0.05;

const NOTHING = { entries: 0, untouched: 0, whole: 0, part: 0, agent: 0, 'by file': 0, 'unseen by a file': 0 };

interface Tried extends ProofResult {
  readonly coverage: Record<string, number>;
}

/**
 * A log in which everything has happened, of some 11,000 entries in several organizations (1,200 in a short run); and what somebody
 * who owns the database can do to it, each instance in a transaction that is verified within and undone. With it, the same log
 * untouched, in every state that may look like tampering and is none.
 */
export const proof: Proof = {
  name: 'tamper',
  title: 'Whatever a superuser does to the log is found, and named fittingly; a log that nobody touched is never suspected.',
  longCount: 3_000,
  shortCount: BEFORE_SWEEP.length + OF_SWEEPS.length + 12,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const tried: Tried = { checked: 0, coverage: { ...NOTHING } };
    const big = await bigLog(seed, count > LONG ? 1 : SHARE_OF_SHORT, async ({ url }) => {
      for (let n = 0; n < 5; n++) {
        const { breaks } = await verifiedLog(url);
        if (breaks.length > 0) throw new Error(`a false alarm while writers run: ${JSON.stringify(breaks.slice(0, 3))}`);
        tried.coverage['untouched']!++;
      }
    });
    const client = new pg.Client({ connectionString: big.database.superuserUrl });
    await client.connect();
    try {
      return await story({ big, client, count, seed, progress, tried });
    } finally {
      await client.end();
      await big.end();
    }
  },
};

interface Setting {
  readonly big: BigLog;
  readonly client: pg.Client;
  readonly count: number;
  readonly seed: number;
  readonly tried: Tried;
  progress(done: number): void;
}

async function story(setting: Setting): Promise<ProofResult> {
  const { big, client, count, seed, tried, progress } = setting;
  const [first, second] = big.bulk as [string, string];
  // Files of everything take the stand-alone verifier seconds: those of the last state are looked at, where it is worth it.
  const state = async (what: string, keys: { seed: string; retiredSeed?: string } = { seed: SEED },
    isLast = false): Promise<LoggedLog> => {
    const log = await loggedLog(client, { ...keys, storied: big.story.organizationId });
    const how = !isLast ? 'briefly' : count > LONG ? 'all of it' : 'each small one';
    const wrong = await falseAlarm(client, log, how, tried.coverage['untouched']);
    if (wrong !== undefined) throw new FalseAlarm(`${what}: ${wrong}`);
    tried.coverage['untouched']!++;
    return log;
  };
  try {
    await state('a person was erased, clocks went back');
    await big.erase(second, 25);
    await big.sign();
    await state('an erasure');
    await big.erase(second, 10, '8');
    await big.erase(first, 25);
    await big.sign();
    await big.sign();
    await state('a second erasure, and an idle period');
    for (let n = 0; n < 5; n++) await big.grow(20);
    const whole = await state('five checkpoints later', { seed: SEED }, true);
    tried.coverage['entries'] = whole.organizations.reduce((sum, id) => sum + whole.entriesOf(id).length, 0);
    const part = Math.max(BEFORE_SWEEP.length, Math.ceil(count * 0.65));
    const missed = await tampered(setting, whole, BEFORE_SWEEP, 0, Math.min(part, count));
    if (missed !== undefined) return { ...tried, counterexample: missed };

    const folder = await archiveFolder();
    await aged(big.database);
    for (let n = 0; n < 3; n++) await big.grow(150);
    const gone = (await swept(big.database, folder)).reduce((sum, { entries }) => sum + entries, 0);
    tried.coverage['swept entries'] = gone;
    await big.sign();
    await state('a sweep after erasures');
    await big.erase(second, 20, 'a');
    await big.sign();
    await state('an erasure after a sweep');
    const next = randomBytes(32).toString('base64');
    await rotateSigningKey(big.database.url, { present: SEED, next });
    await state('a key rotation', { seed: next, retiredSeed: SEED });
    await big.grow(20, big.bulk, next);
    const cut = await state('signed by the new key', { seed: next, retiredSeed: SEED }, true);
    const archives = Math.max(12, Math.ceil(count * SHARE_OF_ARCHIVES));
    const again = await tampered(setting, cut, AFTER_SWEEP, tried.checked, Math.max(0, count - archives));
    if (again !== undefined) return { ...tried, counterexample: again };
    const altered = await alteredArchives(client, folder, seed, archives);
    tried.coverage['archives altered'] = altered.checked;
    progress(count);
    return { ...tried, checked: tried.checked + altered.checked, ...(altered.missed === undefined ? {} :
      { counterexample: altered.missed }) };
  } catch (error) {
    if (error instanceof FalseAlarm) return { ...tried, checked: Math.max(1, tried.checked),
      counterexample: `a false alarm: ${error.message}` };
    throw error;
  }
}

class FalseAlarm extends Error {}

async function tampered(
  { client, seed, tried, progress }: Setting, log: LoggedLog, tamperings: readonly Tampering[], from: number, to: number,
): Promise<string | undefined> {
  for (let index = from; index < to; index++) {
    progress(index);
    if (index % VACUUM_EACH === VACUUM_EACH - 1) await client.query('vacuum');
    const at = index - from;
    const tampering = tamperings[at % tamperings.length]!;
    const standAlone = (at + Math.floor(at / tamperings.length)) % STAND_ALONE_EACH === 0;
    const tamper = { seed, index, tampering, scale: 1, standAlone };
    const keep = tried.coverage[tampering.name] ? undefined : keeper(tampering.name);
    const outcome = await instance(client, log, keep ? { ...tamper, keep } : tamper);
    tried.coverage[tampering.name] ??= 0;
    if (!outcome) continue;
    (tried as { checked: number }).checked++;
    tried.coverage[tampering.name]!++;
    tried.coverage[outcome.view]!++;
    if (outcome.file !== 'not asked') tried.coverage[outcome.file === 'found' ? 'by file' : 'unseen by a file']!++;
    if (outcome.missed === undefined) continue;
    const name = JSON.stringify({ seed, index, tampering: tampering.name });
    const line = await smallest(client, log, { ...tamper, standAlone: true }, outcome.missed);
    return `${name}: ${line}`;
  }
  return undefined;
}

/** Where TAMPERED_FILES names a folder, it gets a file of each sort: the verifier's page is tried on them. */
function keeper(name: string): ((texts: readonly string[]) => void) | undefined {
  const folder = process.env['TAMPERED_FILES'];
  if (folder === undefined || folder === '') return undefined;
  const file = join(folder, `${name.replaceAll(/[^a-z0-9]+/gi, '-')}.jsonl`);
  return (texts) => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, texts.map((text) => `${text}\n`).join(''));
  };
}

/** The same nearer to the beginning of everything, as long as it is still missed. */
async function smallest(client: pg.Client, log: LoggedLog, tamper: Parameters<typeof instance>[2], missed: string): Promise<string> {
  let said = `at scale 1, ${missed}`;
  for (let scale = 0.5; scale > 0.01; scale /= 2) {
    const outcome = await instance(client, log, { ...tamper, scale });
    if (outcome?.missed === undefined) break;
    said = `at scale ${scale}, ${outcome.missed}`;
  }
  return said;
}
