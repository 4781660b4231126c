import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { PreparedEntry } from '../../../src/domain/audit/entry/prepare-entry.js';
import { organizationChain, type ChainRef } from '../../../src/domain/audit/entry/chain.js';
import { newId } from '../../../src/domain/ids.js';
import { makeCheckpoints } from '../../../src/modules/audit/checkpoints/sign-checkpoints.js';
import { LeafIntegrator } from '../../../src/modules/audit/checkpoints/leaf-integrator.js';
import { SignedState } from '../../../src/modules/audit/checkpoints/signed-state.js';
import { signerOf } from '../../../src/modules/audit/keys/signer.js';
import { asRoot } from '../http/actors.js';
import { appendLocked } from '../log/append-past.js';
import { anAgent } from '../builders/agents.js';
import type { TestDatabase } from '../servers/database.js';
import { erasedByHand } from '../erasure/erased-by-hand.js';
import { erased } from '../erasure/erasures.js';
import { aDecidedLog, recordedInFull, type DecidedLog } from '../memory/decided-log.js';
import { delegatedInFull } from '../memory/delegated-log.js';
import { startReceiver } from '../http/receiver.js';
import { startServer, type TestServer } from '../servers/server.js';
import { TEST_ENVIRONMENT } from '../servers/test-run.js';
import { looseLead } from '../log/tree-database.js';
import { anyEntry, stamped } from './every-event.js';
import { Random } from './random.js';

export const SEED = TEST_ENVIRONMENT['AUDIT_SIGNING_KEY']!;

/** Entries of the bulk, by organization: most are small, so that many are soon looked through. */
const BULK = [7_600, 1_100, 700, 500] as const;
const CHAINS_EACH = 120;
const AT_ONCE = 100;
const CHECKPOINTS = 6;

/** A log in which everything has happened, and nobody writes any more. */
export interface BigLog {
  readonly database: TestDatabase;
  readonly story: DecidedLog;
  readonly bulk: readonly string[];
  /** Appends some entries to any chains of these organizations, and signs. */
  grow(entries: number, organizations?: readonly string[], seed?: string): Promise<void>;
  /** Takes what is queued into the trees and signs: with nothing queued, an idle period has passed. */
  sign(seed?: string): Promise<void>;
  /** Erases all values of so many entries of an organization, by their hashes' order. */
  erase(organizationId: string, entries: number, after?: string): Promise<void>;
  server: TestServer;
  end(): Promise<void>;
}

/**
 * @param seed of the bulk's content; ids and salts are random
 * @param share of the usual number of entries
 */
export async function bigLog(seed: number, share: number, whileWriting: (database: TestDatabase) => Promise<void>): Promise<BigLog> {
  const receiver = await startReceiver();
  const server = await startServer({ env: { OUTBOUND_ALLOW: receiver.destination, AUDIT_CHECKPOINT_SECONDS: '2' } });
  const { database } = server;
  const end = async () => {
    await server.stop();
    await receiver.close();
  };
  try {
    const story = await aDecidedLog(server, receiver);
    const recorded = recordedInFull(server, story).then(() => delegatedInFull(server, story));
    await Promise.all([recorded, whileWriting(database)]);
    await someoneErased(server, story);
    await oneValueErased(server, story);
    const bulk: string[] = [];
    for (let n = 0; n < BULK.length; n++) {
      bulk.push((await asRoot(server).post('/api/v1/organizations', { name: `Bulk ${n}` })).expect(201).text('organization.id'));
    }
    await server.kill('SIGTERM');
    const writer = await Writer.on(database, new Random(`bulk ${seed}`));
    const parts = BULK.map((entries, n) => ({ organizationId: bulk[n]!, left: Math.ceil(entries * share) }));
    for (let n = 0; n < CHECKPOINTS; n++) {
      for (const { organizationId, left } of parts) await writer.append(organizationId, Math.ceil(left / CHECKPOINTS));
      await writer.append('org_platform', 20);
      await sign(database);
    }
    return {
      database, story, bulk, server,
      grow: async (entries, organizations = bulk, by = SEED) => {
        for (const organizationId of organizations) await writer.append(organizationId, entries);
        await sign(database, by);
      },
      sign: (by) => sign(database, by),
      erase: (organizationId, entries, after = '') => eraseSome(database, organizationId, entries, after),
      end: async () => {
        await writer.end();
        await end();
      },
    };
  } catch (error) {
    await end().catch(() => undefined);
    throw error;
  }
}

/** A person of the story is erased through the API, as the log's own administrator would. */
async function someoneErased(server: TestServer, { member }: DecidedLog): Promise<void> {
  const reply = await asRoot(server).delete(`/api/v1/users/${member.id}/data`);
  if (reply.status >= 300) throw new Error(`the erasure was answered ${reply.status}: ${JSON.stringify(reply.body)}`);
  await erased(server);
}

/** Of a call's input one value goes, and another stays beside it. */
async function oneValueErased(server: TestServer, { organizationId }: DecidedLog): Promise<void> {
  const customer = `Grace Brewster ${randomBytes(4).toString('hex')}`;
  const { client } = await anAgent(server).inOrganization(organizationId).granted('web.search').create();
  (await client.post('/api/v1/execute', { capability: 'web.search', input: { customer, amount: 5, query: 'boats' } })).expect(200);
  const order = { values: [customer], reason: 'they asked', organizationId };
  const reply = await asRoot(server).post('/api/v1/audit/erasures', order);
  if (reply.status >= 300) throw new Error(`the erasure was answered ${reply.status}: ${JSON.stringify(reply.body)}`);
  await erased(server);
}

async function eraseSome(database: TestDatabase, organizationId: string, count: number, after: string): Promise<void> {
  const rows = await database.sql<{ id: string; hash: string; disclosures: string }>(
    `select id, hash, disclosures from audit_entries where organization_id = $1 and disclosures like '%"value":%' and hash > $2
     order by hash limit $3`, [organizationId, after, count]);
  await erasedByHand(database, organizationId, rows, SEED);
}

/** As the leader does, on a connection of its own. */
async function sign(database: TestDatabase, seed = SEED): Promise<void> {
  const lead = await looseLead(database);
  try {
    const integrator = new LeafIntegrator(lead, SignedState.unproven());
    for (let more = true; more; ) ({ more } = await integrator.round());
    await lead.transact(async (run) => {
      const { instance, key } = await signerOf(run, seed);
      await makeCheckpoints(run, { instance, keys: [key], trees: SignedState.unproven(), organizations: null });
    });
  } finally {
    await lead.end();
  }
}

/** Appends real entries past any server, by the function that appends. */
class Writer {
  private readonly chains = new Map<string, { ref: ChainRef; n: number }[]>();

  private constructor(
    private readonly client: pg.Client,
    private readonly random: Random,
  ) {}

  static async on({ url }: TestDatabase, random: Random): Promise<Writer> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return new Writer(client, random);
  }

  async append(organizationId: string, count: number): Promise<void> {
    const known = this.chains.get(organizationId) ?? [{ ref: organizationChain(organizationId), n: 0 }];
    this.chains.set(organizationId, known);
    for (let left = count; left > 0; left -= AT_ONCE) {
      const entries: PreparedEntry[] = [];
      for (let i = 0; i < Math.min(left, AT_ONCE); i++) {
        const isFull = organizationId !== 'org_platform' && this.random.chance(1 / CHAINS_EACH);
        if (isFull || (known.length === 1 && organizationId !== 'org_platform')) entries.push(await this.registered(organizationId,
          known));
        const chain = this.random.of(known);
        entries.push(anyEntry(chain.ref, chain.n++, this.random));
      }
      await this.commit(entries);
    }
  }

  private async registered(organizationId: string, known: { ref: ChainRef; n: number }[]): Promise<PreparedEntry> {
    const ref = { organizationId, chain: newId('agt') };
    await this.client.query('insert into audit_heads (organization_id, chain) values ($1, $2)', [ref.organizationId, ref.chain]);
    known.push({ ref, n: 0 });
    const metadata = { name: `Agent ${known.length}`, riskLevel: 'low', tags: ['a', 'b'], metadata:
      { token: randomBytes(4).toString('hex') } };
    return stamped(ref, { type: 'agent.registered', metadata }, this.random);
  }

  private async commit(entries: readonly PreparedEntry[]): Promise<void> {
    await this.client.query('begin');
    await appendLocked(this.client, entries);
    await this.client.query('commit');
  }

  end(): Promise<void> {
    return this.client.end();
  }
}

