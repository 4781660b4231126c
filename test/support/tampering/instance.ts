import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type pg from 'pg';
import type { verify as Verify } from '../../../verifier/verify.mjs';
import { logLines, type ExportSelection } from '../../../src/domain/audit/export/log-lines.js';
import { sealed } from '../../../src/domain/audit/export/sealed-export.js';
import { signingKey } from '../../../src/domain/audit/notes/note.js';
import { verifyLog, type LogFound } from '../../../src/domain/audit/integrity/verify-log.js';
import type { ShownAnchor } from '../../../src/domain/audit/integrity/log-source.js';
import type { ReadStatement } from '../../../src/platform/audit/record-keepers.js';
import { organizationsWithLog } from '../../../src/modules/audit/query/organizations.query.js';
import { sqlExportSource } from '../../../src/modules/audit/exports/export-source.query.js';
import { RECORD_KEEPERS } from '../../../src/cli/verification/verify-log.js';
import { logCheckOf } from '../../../src/modules/audit/verification/log-checks.js';
import { sqlLogSource } from '../../../src/modules/audit/verification/source/log-source.query.js';
import { CHECKOUT } from '../servers/test-run.js';
import type { LoggedLog } from './logged-log.js';
import { TamperTarget, type Mark, type Tampering } from './tampering.js';
import { Random } from './random.js';

const { verify } = (await import(pathToFileURL(join(CHECKOUT, 'verifier', 'verify.mjs')).href)) as { verify: typeof Verify };
/** Organizations are tried in turn until there is one in which there is something of the kind to be done. */
const ATTEMPTS = 60;
/** Entries from which an organization's turn comes seldom: each look at it takes long. */
const LARGE = 5_000;
const FILE_OF_ALL_EACH = 64;

/** One instance, in full: with these it is the same again, on a log that was built from the same seed. */
export interface TamperResult {
  readonly seed: number;
  readonly index: number;
  readonly tampering: Tampering;
  /** 1, or less for a place nearer to the beginning. */
  readonly scale: number;
  /** Whether the file that an export makes of it is looked at, too. */
  readonly standAlone: boolean;
  /** Gets the lines of that file, where there is something to be seen in it. */
  readonly keep?: (texts: readonly string[]) => void;
}

export interface Outcome {
  readonly view: 'whole' | 'part' | 'agent';
  readonly file: 'found' | 'unseen' | 'not asked';
  /** What was missed, in words. */
  readonly missed?: string;
}

/** Tampers, looks, and undoes it. Undefined where there was nothing of the kind to be done. */
export async function instance(client: pg.Client, log: LoggedLog, tamper: TamperResult): Promise<Outcome | undefined> {
  const { seed, index, tampering, scale } = tamper;
  const start = new Random(`${seed} ${index} ${tampering.name}`, scale).below(log.organizations.length);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const random = new Random(`${seed} ${index} ${tampering.name} ${attempt}`, scale);
    // One after the other from any on: so each has its turns.
    const open = log.organizations.filter((id) => log.entriesOf(id).length < LARGE || random.chance(0.2));
    const organizationId = tampering.judged ? log.storied : open[(start + attempt) % open.length]!;
    const place = new TamperTarget(client, log, random, organizationId);
    await client.query('begin');
    try {
      await client.query('set local session_replication_role = replica');
      const mark = await done(tampering, place);
      if (mark) return await looked(place, mark, tamper).catch((error: unknown) =>
        ({ view: 'whole' as const, file: 'not asked' as const, missed: `verifying it ended with ${String(error)}` }));
    } finally {
      await client.query('rollback');
    }
  }
  return undefined;
}

async function done({ tamper, name }: Tampering, place: TamperTarget): Promise<Mark | undefined> {
  try {
    return await tamper(place);
  } catch (error) {
    // A constraint that stands in the way: then it cannot be done like this.
    if (/^(23|22)/.test(String((error as { code?: unknown }).code))) return undefined;
    throw new Error(`${name}: ${String(error)}`, { cause: error });
  }
}

async function looked(place: TamperTarget, mark: Mark, { index, tampering, standAlone, keep }: TamperResult): Promise<Outcome> {
  const { log, organizationId, run } = place;
  const [chain = ''] = mark.at;
  const view = tampering.whole !== undefined || index % 16 === 0 ? 'whole'
    : index % 4 === 1 && chain.startsWith('agt_') && !tampering.judged ? 'agent' : 'part';
  const organizations = view === 'whole' && !tampering.judged ? ('all' as const) : [organizationId];
  const of = (agentId: { agentId?: string }) => (anchors: readonly ShownAnchor[]) =>
    verified(run, organizations, anchors, { judged: tampering.judged === true, ...agentId });
  let look = of(view === 'agent' ? { agentId: chain } : {});
  let found = await look(mark.anchors ?? log.anchors);
  // Of an agent of whom nothing at all is left nobody is told that it is valid, but that there is none: then its organization must tell.
  if (view === 'agent' && found.chains === 0) found = await (look = of({}))(mark.anchors ?? log.anchors);
  const where = `${view} of ${organizationId} (${mark.at[0] ?? ''})`;
  const fits = found.breaks.some((one) => mark.at.includes(one.chain) && tampering.kinds.includes(one.kind));
  if (!fits) return { view, file: 'not asked', missed: `${where}: ${reported(found)}` };
  if (tampering.perfect) {
    const unanchored = await look([]);
    if (unanchored.breaksFound > 0) return { view, file: 'not asked', missed: `${where}: no perfect forgery: ${reported(unanchored)}` };
  }
  if (tampering.unseen !== undefined) return { view, file: standAlone ? 'unseen' : 'not asked' };
  if (!standAlone && !keep) return { view, file: 'not asked' };
  // A file of everything takes the stand-alone verifier as long as ten of one organization.
  const shown = tampering.whole !== undefined || index % FILE_OF_ALL_EACH === 0 ? log.organizations : [organizationId];
  // A log of which no file can be made cannot pass for a whole one: the export breaks off, and half a file is refused.
  const texts = await textsOf(run, log, shown).catch((error: unknown) => String(error));
  if (typeof texts !== 'string') keep?.(texts);
  if (!standAlone) return { view, file: 'not asked' };
  const verdict = typeof texts === 'string' ? texts : (await verify(texts, { keys: [log.verifierKeys.at(-1)!] })).verdict;
  if (verdict === 'tampered' || verdict.startsWith('RangeError')) return { view, file: 'found' };
  return { view, file: 'not asked', missed: `${where}: the file of it is ${verdict}; the engine says ${reported(found)}` };
}

const reported = ({ breaks, breaksFound }: Pick<LogFound, 'breaks' | 'breaksFound'>) =>
  `${breaksFound} breaks ${JSON.stringify(breaks.slice(0, 4))}`;

/** The engine over a connection as it stands. */
export async function verified(
  run: ReadStatement, organizations: readonly string[] | 'all', anchors: readonly ShownAnchor[],
  { judged, agentId }: { readonly judged: boolean; readonly agentId?: string },
): Promise<LogFound> {
  const source = sqlLogSource(run, organizations);
  const check = judged ? { check: await logCheckOf(run, source, RECORD_KEEPERS, { organizations, agentId }) } : {};
  return verifyLog(source, { anchors, ...check, agentId });
}

/** What the stand-alone verifier says of an export, with the key that signs now pinned. */
export async function fileOf(
  run: TamperTarget['run'], log: LoggedLog, organizations: readonly string[],
): Promise<{ verdict: string; breaks: readonly { kind: string; detail: string }[] }> {
  return verify(await textsOf(run, log, organizations), { keys: [log.verifierKeys.at(-1)!] });
}

async function textsOf(run: TamperTarget['run'], log: LoggedLog, organizations: readonly string[]): Promise<string[]> {
  const source = await sqlExportSource(run, log.seed);
  const texts: string[] = [];
  // A file of everything is of whatever there is, as the service makes it.
  const selection: ExportSelection = organizations === log.organizations
    ? { organizations: await organizationsWithLog(run, { organizations: 'all' }), all: true } : { organizations };
  const lines = logLines(source, selection, new Date().toISOString());
  for await (const text of sealed(lines, signingKey(log.instance, log.seed))) texts.push(text.slice(0, -1));
  return texts;
}

/** How much is looked at: a file takes the stand-alone verifier long, so briefly it is two of small organizations, another each time. */
export type Thoroughness = 'briefly' | 'each small one' | 'all of it';

/** What is wrong with a log that nobody touched: nothing. Otherwise what is said of it. */
export async function falseAlarm(client: pg.Client, log: LoggedLog, how: Thoroughness, turn = 0): Promise<string | undefined> {
  const run = async (sql: string, parameters: readonly unknown[] = []) =>
    (await client.query<Record<string, unknown>>(sql, [...parameters])).rows;
  const whole = (id: string) => log.entriesOf(id).length;
  const looks: [string, () => Promise<string | undefined>][] = [
    ['all', async () => alarm(await verified(run, 'all', log.anchors, { judged: false }))],
    ['story, judged', async () => alarm(await verified(run, [log.storied], log.anchors, { judged: true }))],
  ];
  const thorough = how === 'all of it';
  const small = [...log.organizations].sort((a, b) => whole(a) - whole(b)).slice(0, -1);
  const two = [turn, turn + 1].map((n) => small[n % small.length]!);
  for (const id of thorough ? log.organizations : how === 'briefly' ? two : small) {
    looks.push([`file of ${id}`, async () => inFile(await fileOf(run, log, [id]))]);
    const agentId = [...log.chainsOf(id).keys()].find((chain) => chain.startsWith('agt_'));
    if (agentId) looks.push([`agent ${agentId}`, async () => alarm(await verified(run, [id], log.anchors, { judged: false, agentId }))]);
    if (thorough) looks.push([`part ${id}`, async () => alarm(await verified(run, [id], log.anchors, { judged: false }))]);
  }
  if (thorough) looks.push(['file of all', async () => inFile(await fileOf(run, log, log.organizations))]);
  for (const [what, look] of looks) {
    await client.query('begin transaction isolation level repeatable read');
    try {
      const wrong = await look();
      if (wrong !== undefined) return `${what}: ${wrong}`;
    } finally {
      await client.query('rollback');
    }
  }
  return undefined;
}

const alarm = (found: LogFound) => (found.breaksFound === 0 ? undefined : reported(found));
const inFile = ({ verdict, breaks }: { verdict: string; breaks: readonly { detail: string }[] }) =>
  (verdict === 'valid' ? undefined : `${verdict} ${JSON.stringify(breaks.slice(0, 3))}`);
