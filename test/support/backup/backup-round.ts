import { spawnSync } from 'node:child_process';
import { anAgent, type BuiltAgent } from '../builders/agents.js';
import { erased } from '../erasure/erasures.js';
import { as, asRoot } from '../http/actors.js';
import { startReceiver } from '../http/receiver.js';
import { allSigned } from '../log/exports.js';
import { aDecidedLog } from '../memory/decided-log.js';
import { eventually } from '../running/eventually.js';
import { countersign, rotateRootKey } from '../servers/command-line.js';
import { createTestDatabase, type TestDatabase } from '../servers/database.js';
import { startServer, type TestServer } from '../servers/server.js';
import { ROOT_KEY } from '../servers/test-run.js';
import { aBackupPlace, backupOf, restored, sumsIn, type BackupPlace } from './backups.js';
import { manifestOf } from './unpacked.js';

/** A backup that was made while an agent executed. */
export interface BackupUnderLoad {
  readonly file: string;
  /** Executions that ended while it was made. */
  readonly meanwhile: number;
}

export async function backupUnderLoad(server: TestServer, agent: BuiltAgent, place: BackupPlace): Promise<BackupUnderLoad> {
  const work = { isOver: false, done: 0 };
  const load = (async () => {
    while (!work.isOver) {
      (await agent.client.post('/api/v1/execute', { capability: 'web.search', input: { n: work.done } })).expect(200);
      work.done++;
    }
  })();
  try {
    const before = work.done;
    const file = await backupOf(server.database.url, place);
    return { file, meanwhile: work.done - before };
  } finally {
    work.isOver = true;
    await load;
  }
}

/** What is restored waits for a recovery, and after it agents work again, by new tokens. @returns what is not so, in words */
export async function backInService(target: TestDatabase, agent: BuiltAgent, place: BackupPlace): Promise<string[]> {
  const wrong: string[] = [];
  const wanted = (what: string, isSo: boolean) => void (isSo || wrong.push(what));
  const env = { ...place.env, DATABASE_URL: target.url, AUDIT_ANCHORS: target.anchors };
  const again = await startServer({ replicaOf: { database: target }, env: { AUDIT_CHECKPOINT_SECONDS: '1' } });
  try {
    wanted('it is held before a recovery', (await asRoot(again).get('/api/v1/agents')).status === 503);
    wanted('recover shows what would be lost', (await countersign(['recover'], env)).code === 1);
    wanted('recover --accept-loss recovers', (await countersign(['recover', '--accept-loss'], env)).code === 0);
    const root = as(again, await rotateRootKey(target.url));
    await eventually(async () => (await root.get('/api/v1/agents')).expect(200));
    wanted('the old root key is dead', (await as(again, ROOT_KEY).get('/api/v1/agents')).status === 401);
    wanted('the old token is dead', (await as(again, agent.token).get(`/api/v1/agents/${agent.id}`)).status === 401);
    const { token } = (await root.post(`/api/v1/agents/${agent.id}/token`)).body as { token: string };
    const { body } = await as(again, token).post('/api/v1/execute', { capability: 'web.search', input: {} });
    wanted('the agent works again', (body as { status: string }).status === 'executed');
    await allSigned(again);
    const { stdout } = await countersign(['audit', 'verify', '--no-remember', '--json'], env);
    const { verdict } = JSON.parse(stdout) as { verdict: string };
    wanted(`the log is valid, not ${verdict}`, verdict === 'valid');
    return wrong;
  } finally {
    await again.stop();
  }
}

/** `backupRound` with a log in which everything has happened, an erasure too. */
export async function backupOfStory(): Promise<RoundOutcome> {
  const receiver = await startReceiver();
  try {
    const server = await startServer({ env: { OUTBOUND_ALLOW: receiver.destination, AUDIT_CHECKPOINT_SECONDS: '1' } });
    try {
      const { member } = await aDecidedLog(server, receiver);
      const { status } = await asRoot(server).delete(`/api/v1/users/${member.id}/data`);
      if (status >= 300) throw new Error(`the erasure was answered ${status}`);
      await erased(server);
      return await backupRound(server);
    } finally {
      await server.stop();
    }
  } finally {
    await receiver.close();
  }
}

/** What came of it, and what is not as it should be. */
export interface RoundOutcome {
  readonly told: string;
  readonly wrong: readonly string[];
}

/** Backs a server up under load, restores the backup into a database elsewhere, compares every table, and puts it into service. */
async function backupRound(server: TestServer): Promise<RoundOutcome> {
  const [place, target] = [await aBackupPlace(), await createTestDatabase('empty')];
  try {
    const agent = await anAgent(server).granted('web.search').create();
    await allSigned(server);
    const { file, meanwhile } = await backupUnderLoad(server, agent, place);
    const { tables, instance } = await manifestOf(file, place);
    const { code, stdout, stderr } = await restored(file, target.url, place);
    if (code !== 0) return { told: '', wrong: [`restore ended with ${code}: ${stderr}`] };
    const { verdict, rows, entries, held } = JSON.parse(stdout) as { verdict: string; rows: number; entries: number; held: boolean };
    const sums = await sumsIn(target.url, { tables });
    // Of the installation it is new that it waits for a recovery.
    const others = tables.filter(({ name, sha256 }) => name !== 'instance' && sums[name] !== sha256);
    return {
      told: `${rows} rows of ${tables.length} tables of ${instance}, ${entries} entries, ${meanwhile} executions meanwhile: ${verdict}`,
      wrong: [
        ...others.map(({ name }) => `${name} is another one`),
        ...held && /^valid/.test(verdict) ? [] : [`it is ${verdict}, ${held ? 'held' : 'and not held'}`],
        ...meanwhile > 0 ? [] : ['no execution ended while it was made'],
        ...openedByAge(file, place),
        ...await backInService(target, agent, place),
      ],
    };
  } finally {
    await target.drop();
  }
}

/** Without the program, that is what is wrong. */
function openedByAge(file: string, { identityFile }: BackupPlace): string[] {
  const opened = spawnSync('age', ['--decrypt', '--identity', identityFile, file], { maxBuffer: 1 << 30 });
  if (opened.error !== undefined) return ['age is not here (Debian, Ubuntu: apt-get install age)'];
  if (opened.status !== 0) return [`age does not open it: ${opened.stderr.toString()}`];
  const { stdout } = spawnSync('tar', ['--list'], { input: opened.stdout, encoding: 'utf8', maxBuffer: 1 << 28 });
  return ['manifest.json', 'secrets.json', 'tables/audit_entries/000001.copy'].filter((name) => !stdout.split('\n').includes(name))
    .map((name) => `age and tar find no ${name} in it`);
}
