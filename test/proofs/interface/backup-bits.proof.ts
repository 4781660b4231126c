import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { restoreFromFile } from '../../../src/cli/backup/restore-from-file.js';
import { targetOf } from '../../../src/cli/backup/restore-target.js';
import { StartRefused } from '../../../src/platform/config/start-refused.js';
import { SECRETS, aBackupPlace, backupOf, openerOf, type BackupPlace } from '../../support/backup/backups.js';
import { anAgent } from '../../support/builders/agents.js';
import type { Proof, ProofResult, ProofRun } from '../../support/proofs/proof.js';
import { generator } from '../../support/proofs/races.js';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database.js';
import { startServer } from '../../support/servers/server.js';

/** How `age` divides what it encrypts; each piece has a tag of its own of 16 bytes. */
const CHUNK = 64 * 1024 + 16;
/** Enough of them that the file has several pieces. */
const CALLS = 60;
const KINDS = ['a bit of the header', 'a bit of the last piece', 'a bit elsewhere', 'cut between pieces', 'cut elsewhere'] as const;
/** Of every ten cases. */
const HEADER_EACH = 3;
const CUT_EACH = 3;

/** A backup that was damaged anywhere is refused before the database is touched; the same one undamaged is restored at the end. */
export const proof: Proof = {
  name: 'backup-bits',
  title: 'A backup with one bit that is another, or that is cut anywhere, is refused, and the database stays empty.',
  longCount: 500,
  shortCount: 100,
  needs: 'database',
  run: async (run) => {
    const place = await aBackupPlace();
    const file = await aBackup(place);
    const target = await createTestDatabase('empty');
    try {
      return await damaged(file, place, target, run);
    } finally {
      await target.drop();
    }
  },
};

async function aBackup(place: BackupPlace): Promise<string> {
  const server = await startServer();
  try {
    const { client } = await anAgent(server).granted('web.search').create();
    const query = 'x'.repeat(2_000);
    for (let n = 0; n < CALLS; n++) (await client.post('/api/v1/execute', { capability: 'web.search', input: { n, query } })).expect(200);
    return await backupOf(server.database.url, place);
  } finally {
    await server.stop();
  }
}

async function damaged(file: string, place: BackupPlace, target: TestDatabase, { count, seed, progress }: ProofRun): Promise<ProofResult> {
  const bytes = readFileSync(file);
  const header = bytes.indexOf('\n--- ') + '\n--- '.length + 43 + 1 + 16;
  const random = generator(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const coverage: Record<string, number> = Object.fromEntries(KINDS.map((kind) => [kind, 0]));
  const cut = join(place.folder, 'damaged.age');
  const attempt = () => restoreFromFile({
    file: cut, decrypter: openerOf(place), target: targetOf({ ...process.env, ...SECRETS, DATABASE_URL: target.url }, undefined),
    verifierKeys: [], evenTampered: false, signal: new AbortController().signal, onProgress: () => undefined,
  });
  for (let done = 0; done < count; done++) {
    const { kind, at, made } = oneDamage(done);
    coverage[kind]!++;
    writeFileSync(cut, made);
    const outcome = await attempt().then(() => 'it was restored', unlessRefused);
    if (outcome !== undefined) return { checked: done, counterexample: `${kind}, at ${at} of ${bytes.length}: ${outcome}`, coverage };
    progress(done + 1);
  }
  const objects = await target.sql(`select relname from pg_class where relnamespace = 'public'::regnamespace`);
  if (objects.length > 0) return { checked: count, counterexample: `the database has ${objects.length} objects`, coverage };
  writeFileSync(cut, bytes);
  const whole = await attempt().then(({ log }) => log?.breaksFound, String);
  rmSync(cut);
  return { checked: count, ...(whole === 0 ? {} : { counterexample: `the undamaged one was not restored: ${whole}` }), coverage };

  function oneDamage(n: number): { kind: (typeof KINDS)[number]; at: number; made: Buffer } {
    const turn = n % 10;
    if (turn < CUT_EACH) {
      const pieces = Math.floor((bytes.length - header) / CHUNK);
      const isBetween = turn > 0 && pieces > 0;
      const at = isBetween ? header + CHUNK * below(pieces + 1) : below(bytes.length);
      return { kind: isBetween ? 'cut between pieces' : 'cut elsewhere', at, made: bytes.subarray(0, at) };
    }
    const at = turn < CUT_EACH + HEADER_EACH ? below(header) : header + below(bytes.length - header);
    const made = Buffer.from(bytes);
    made[at]! ^= 1 << below(8);
    const isLast = at >= header + CHUNK * Math.floor((bytes.length - header) / CHUNK);
    return { kind: at < header ? 'a bit of the header' : isLast ? 'a bit of the last piece' : 'a bit elsewhere', at, made };
  }
}

const unlessRefused = (error: unknown) => (error instanceof StartRefused ? undefined : String(error));
