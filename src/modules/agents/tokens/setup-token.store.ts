import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { Janitor, cleanupStep } from '../../../platform/database/janitor.service.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';

/** A setup token as it is kept: nothing in it is the credential itself. */
export interface SetupToken {
  organizationId: string;
  id: string;
  agentId: string;
  /** Of the agent when it was issued; with a later one it is dead. */
  epoch: number;
  issuedBy: string;
  issuedAt: Date;
  expiresAt: Date;
  usedAt: Date | null;
}

type Row = Omit<SetupToken, 'epoch'> & { epoch: string; isOver: boolean };

/** A setup token, and whether it has expired by the database's clock. */
export type SeenSetupToken = SetupToken & { isOver: boolean };

/** `svc_setup_` and 64 hexadecimal digits: a form of its own, so that a leaked one is recognised for what it is. */
const FORM = /^svc_setup_[0-9a-f]{64}$/;

/** How long an expired token's row is kept, so that a later attempt is answered with the reason. */
const KEPT_DAYS = 7;

const COLUMNS = `organization_id as "organizationId", id, agent_id as "agentId", epoch, issued_by as "issuedBy", issued_at as "issuedAt",
  expires_at as "expiresAt", used_at as "usedAt", expires_at <= clock_timestamp() as "isOver"`;

export function makeSetupToken(): string {
  return `svc_setup_${randomBytes(32).toString('hex')}`;
}

/** One-time tokens for nodes. Only their SHA-256 is stored: 256 random bits cannot be guessed from it. */
@Injectable()
export class SetupTokenStore {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    janitor: Janitor,
  ) {
    janitor.register(forgetSpent);
  }

  /** The token behind a text, without a lock: what it says is asked again under one. */
  async find(text: string): Promise<SeenSetupToken | undefined> {
    if (!FORM.test(text)) return undefined;
    const rows = await this.dataSource.query<Row[]>(`select ${COLUMNS} from setup_tokens where token_hash = $1`, [hashOf(text)]);
    return rows.map(fromRow)[0];
  }

  /** The row, locked until this work ends; undefined once it is gone. */
  async read(tx: Tx, { organizationId, id }: Pick<SetupToken, 'organizationId' | 'id'>): Promise<SeenSetupToken | undefined> {
    const rows = await tx.query<Row>(
      `select ${COLUMNS} from setup_tokens where organization_id = $1 and id = $2 for update`,
      [organizationId, id],
    );
    return rows.map(fromRow)[0];
  }

  async insert(tx: Tx, text: string, token: SetupToken): Promise<void> {
    await tx.query(
      `insert into setup_tokens (organization_id, id, agent_id, token_hash, epoch, issued_by, issued_at, expires_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [token.organizationId, token.id, token.agentId, hashOf(text), token.epoch, token.issuedBy, token.issuedAt, token.expiresAt],
    );
  }

  /** Compare-and-set on being unused and within its time. @returns false when somebody was first, or it has ended */
  async spend(tx: Tx, { organizationId, id }: SetupToken, nodeId: string): Promise<boolean> {
    const spent = await tx.query(
      `update setup_tokens set used_at = clock_timestamp(), node_id = $3
       where organization_id = $1 and id = $2 and used_at is null and expires_at > clock_timestamp() returning id`,
      [organizationId, id, nodeId],
    );
    return spent.length === 1;
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function fromRow({ epoch, ...row }: Row): SeenSetupToken {
  return { ...row, epoch: Number(epoch) };
}

const forgetSpent = cleanupStep(
  `delete from setup_tokens where (organization_id, id) in
     (select organization_id, id from setup_tokens where expires_at < clock_timestamp() - make_interval(days => $2) limit $1)`,
  KEPT_DAYS,
);
