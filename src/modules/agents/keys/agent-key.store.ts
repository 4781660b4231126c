import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { AgentPrincipal } from '../../../platform/auth/access/principal.js';
import { StatementsOnPool } from '../../../platform/database/statements/statements-on-pool.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import type { AgentEntity } from '../agent.entity.js';
import type { AgentRef } from '../agent.store.js';

/** An agent key as it is stored: nothing in the row is the secret itself. */
export interface AgentKey {
  id: string;
  name: string;
  createdBy: string;
  createdAt: Date;
  expiresAt: Date | null;
}

/** `svc_agent_` and 64 hexadecimal digits: a form of its own, so that a leaked key is recognised for what it is. */
export const AGENT_KEY_PREFIX = 'svc_agent_';
const FORM = /^svc_agent_[0-9a-f]{64}$/;

/** How long an expired key stays in the list of its agent, at least. */
const KEPT_DAYS = 7;

const FIND = `
  select k.secret_hash, k.id, k.organization_id, k.agent_id, k.epoch, k.created_by, k.created_at, k.expires_at
  from agent_keys k where k.secret_hash = any ($1)`;

export function makeAgentKey(): string {
  return AGENT_KEY_PREFIX + randomBytes(32).toString('hex');
}

/** The only form in which a key is stored. The key has 256 random bits, so a plain SHA-256 cannot be guessed back. */
export function hashAgentKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

export function hasFormOfAgentKey(text: string): boolean {
  return FORM.test(text);
}

/** Keys of agents. A row is written once and never changes but for its name, so whoever has read one may keep the rest of it. */
@Injectable()
export class AgentKeyStore {
  constructor(private readonly pool: StatementsOnPool) {}

  /** The agents behind hashes of keys, each as of when its key was made; nothing for a hash of which there is no key. */
  async find(secretHashes: readonly string[]): Promise<ReadonlyMap<string, AgentPrincipal>> {
    const rows = await this.pool.run(FIND, [secretHashes]);
    return new Map(rows.map((row) => [String(row.secret_hash), principalOf(row)]));
  }

  async insert(tx: Tx, agent: AgentEntity, key: AgentKey, secretHash: string): Promise<void> {
    await tx.query(
      `insert into agent_keys (organization_id, id, agent_id, name, secret_hash, epoch, created_by, created_at, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [agent.organizationId, key.id, agent.id, key.name, secretHash, agent.epoch, key.createdBy, key.createdAt, key.expiresAt],
    );
  }

  /** Deletes the rows of keys that ended by themselves: with an epoch of the agent, or by their time, which is over for a week. */
  async forgetEnded(tx: Tx, { organizationId, id, epoch }: AgentEntity): Promise<void> {
    await tx.query(
      `delete from agent_keys where organization_id = $1 and agent_id = $2
         and (epoch <> $3 or expires_at < clock_timestamp() - make_interval(days => $4))`,
      [organizationId, id, epoch, KEPT_DAYS],
    );
  }

  async countLive(tx: Tx, { organizationId, id, epoch }: AgentEntity): Promise<number> {
    const [row] = await tx.query<{ count: number }>(
      `select count(*)::integer as count from agent_keys
       where organization_id = $1 and agent_id = $2 and epoch = $3 and (expires_at is null or expires_at > clock_timestamp())`,
      [organizationId, id, epoch],
    );
    return row!.count;
  }

  /** When the key ends by itself; undefined: never, or there is no such key. */
  async expiryOf(tx: Tx, { organizationId, id }: AgentRef, keyId: string): Promise<Date | undefined> {
    const [row] = await tx.query<{ expiresAt: Date | null }>(
      'select expires_at as "expiresAt" from agent_keys where organization_id = $1 and agent_id = $2 and id = $3',
      [organizationId, id, keyId],
    );
    return row?.expiresAt ?? undefined;
  }

  /** @returns false when the agent, in its present epoch, has no such key */
  async delete(tx: Tx, { organizationId, id, epoch }: AgentEntity, keyId: string): Promise<boolean> {
    const deleted = await tx.query(
      'delete from agent_keys where organization_id = $1 and agent_id = $2 and epoch = $3 and id = $4 returning id',
      [organizationId, id, epoch, keyId],
    );
    return deleted.length === 1;
  }
}

function principalOf(row: Record<string, unknown>): AgentPrincipal {
  const createdAt = Math.floor((row.created_at as Date).getTime() / 1_000);
  return {
    kind: 'agent', credential: 'key', agentId: String(row.agent_id), organizationId: String(row.organization_id), keyId: String(row.id),
    capabilities: 'any', epoch: Number(row.epoch), issuedAt: createdAt, authTime: createdAt, vouchedBy: String(row.created_by),
    expiresAt: row.expires_at === null ? Infinity : (row.expires_at as Date).getTime() / 1_000,
  };
}
