import type pg from 'pg';
import type { FindingKind } from '../../../src/domain/audit/integrity/findings.js';
import { isAgentChain } from '../../../src/domain/audit/entry/chain.js';
import type { ShownAnchor } from '../../../src/domain/audit/integrity/log-source.js';
import type { StoredEntry } from '../../../src/domain/audit/entry/stored-entry.js';
import type { LoggedLeaf, LoggedLog } from './logged-log.js';
import type { Random } from './random.js';

/** One way to tamper with a log, anywhere in it. */
export interface Tampering {
  readonly name: string;
  /** With these it has to be named, one of them at least. */
  readonly kinds: readonly FindingKind[];
  /** Why only somebody who sees every organization can notice it. */
  readonly whole?: string;
  /** Why an export of the log as it is then cannot show it. */
  readonly unseen?: string;
  /** Needs a log that was swept, or one that was not. */
  readonly in?: 'swept' | 'unswept';
  /** Judged by rows and gate besides, in the organization whose story was told through the API. */
  readonly judged?: true;
  /** A complete forgery by whoever has the signing key: without anchors, nothing is wrong with it. */
  readonly perfect?: true;
  /** Undefined where there is nothing of the kind to be done. */
  readonly tamper: (place: TamperTarget) => Promise<Mark | undefined>;
}

/** Where it was done: a break must stand in one of these chains or trees. */
export interface Mark {
  readonly at: readonly string[];
  /** What anchors have, where it is not what they really have. */
  readonly anchors?: readonly ShownAnchor[];
}

/** The place of one instance: a connection in the middle of a transaction in which no trigger fires, and an organization. */
export class TamperTarget {
  constructor(
    readonly client: pg.Client,
    readonly log: LoggedLog,
    readonly random: Random,
    readonly organizationId: string,
  ) {}

  readonly run = async (sql: string, parameters: readonly unknown[] = []): Promise<Record<string, unknown>[]> =>
    (await this.client.query<Record<string, unknown>>(sql, [...parameters])).rows;

  get entries(): readonly StoredEntry[] {
    return this.log.entriesOf(this.organizationId);
  }

  get leaves(): readonly LoggedLeaf[] {
    return this.log.leaves.get(this.organizationId) ?? [];
  }

  /** All that a break of the organization may name, also where every entry of a chain was swept. */
  get chains(): string[] {
    const { log, organizationId: id } = this;
    const cut = [...log.cut.keys()].filter((one) => one.startsWith(`${id} `)).map((one) => one.slice(id.length + 1));
    return [...new Set([id, ...log.chainsOf(id).keys(), ...cut])];
  }

  /** Any entry, rare types of events as often as common ones. */
  entry(isWanted: (entry: StoredEntry) => boolean = () => true): StoredEntry | undefined {
    const wanted = this.entries.filter(isWanted);
    const types = [...new Set(wanted.map(({ event }) => event))].sort();
    if (types.length === 0) return undefined;
    const type = this.random.of(types);
    return this.random.of(wanted.filter(({ event }) => event === type));
  }

  /** What stands of any chain that has so many entries at least, without jumps. */
  chain(atLeast = 1, isWanted: (chain: string) => boolean = () => true): readonly StoredEntry[] | undefined {
    const chains = [...this.log.chainsOf(this.organizationId)].filter(([name, entries]) =>
      isWanted(name) && entries.length >= atLeast && entries.at(-1)!.seq - entries[0]!.seq === entries.length - 1);
    return chains.length === 0 ? undefined : this.random.of(chains)[1];
  }

  agentChain(atLeast = 1): readonly StoredEntry[] | undefined {
    return this.chain(atLeast, isAgentChain);
  }

  async set(entry: StoredEntry, column: string, value: unknown): Promise<void> {
    await this.run(
      `update audit_entries set "${column}" = $1 where organization_id = $2 and chain = $3 and seq = $4`,
      [value, entry.organizationId, entry.chain, entry.seq],
    );
  }

  async remove(entries: readonly StoredEntry[]): Promise<void> {
    await this.run(
      `delete from audit_entries e using unnest($1::text[], $2::text[], $3::bigint[]) as gone(organization_id, chain, seq)
       where e.organization_id = gone.organization_id and e.chain = gone.chain and e.seq = gone.seq`,
      [entries.map((one) => one.organizationId), entries.map((one) => one.chain), entries.map((one) => one.seq)],
    );
  }

  async insert(entries: readonly StoredEntry[]): Promise<void> {
    await this.run(
      `insert into audit_entries (organization_id, chain, seq, id, event, agent_id, actor_id, capability, outcome, "timestamp", payload,
         disclosures, prev_hash, hash)
       select "organizationId", chain, seq, id, event, "agentId", "actorId", capability, outcome, "timestamp", payload, disclosures,
         "prevHash", hash
       from json_to_recordset($1::json) as e("organizationId" text, chain text, seq bigint, id text, event text, "agentId" text,
         "actorId" text, capability text, outcome text, "timestamp" text, payload text, disclosures text, "prevHash" text, hash text)`,
      [JSON.stringify(entries)],
    );
  }

  /** Puts these in the place of what stands, the head to fit. */
  async replaceChain(old: readonly StoredEntry[], entries: readonly StoredEntry[]): Promise<void> {
    await this.remove(old);
    await this.insert(entries);
    const last = entries.at(-1);
    if (last) await this.setHead(last);
    else await this.removeHead(old[0]!);
  }

  async setHead({ organizationId, chain, seq, hash }: Pick<StoredEntry, 'organizationId' | 'chain' | 'seq' | 'hash'>): Promise<void> {
    await this.run('update audit_heads set seq = $3, hash = $4 where organization_id = $1 and chain = $2', [organizationId, chain,
      seq, hash]);
  }

  async removeHead({ organizationId, chain }: Pick<StoredEntry, 'organizationId' | 'chain'>): Promise<void> {
    await this.run('delete from audit_heads where organization_id = $1 and chain = $2', [organizationId, chain]);
  }
}
