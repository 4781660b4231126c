import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource, Not } from 'typeorm';
import { type Scope, scopeCondition } from '../../platform/auth/access/scope.js';
import { Janitor, cleanupStep } from '../../platform/database/janitor.service.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { Problem } from '../../platform/http/reply/problem.js';
import { AgentEntity } from './agent.entity.js';

/** The primary key of an agent: enough to lock its chain before anything of it is read. */
export interface AgentRef {
  organizationId: string;
  id: string;
}

@Injectable()
export class AgentStore {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    janitor: Janitor,
  ) {
    janitor.register(deleteSpentTokens);
  }

  /** @throws Problem NOT_FOUND, also for an agent of another organization */
  async findRef(scope: Scope, id: string): Promise<AgentRef> {
    const within = scopeCondition(scope, { organization: 'a.organization_id', agent: 'a.id' }, 2);
    const [row] = (await this.dataSource.query(
      `select a.organization_id as "organizationId", a.id from agents a where a.id = $1 and a.status <> 'removed' and ${within.sql}`,
      [id, ...within.parameters],
    )) as AgentRef[];
    if (!row) throw new Problem('NOT_FOUND', 'There is no such agent.');
    return row;
  }

  /** Reads the agent; the caller's work has locked its head. @throws Problem NOT_FOUND for one that is removed */
  async read(tx: Tx, { organizationId, id }: AgentRef): Promise<AgentEntity> {
    const agent = await tx.manager.getRepository(AgentEntity).findOneBy({ organizationId, id, status: Not('removed' as const) });
    if (!agent) throw new Problem('NOT_FOUND', 'There is no such agent.');
    return agent;
  }

  /** Reads also an agent that is removed, so that its credentials are answered `AGENT_INACTIVE`. */
  async readAny(tx: Tx, { organizationId, id }: AgentRef): Promise<AgentEntity> {
    return tx.manager.getRepository(AgentEntity).findOneByOrFail({ organizationId, id });
  }

  /** How many agents belong to the team, the deactivated among them. Removed ones do not. */
  async countOfTeam(tx: Tx, organizationId: string, teamId: string): Promise<number> {
    const [row] = await tx.query<{ count: number }>(
      `select count(*)::integer as count from agents where organization_id = $1 and team_id = $2 and status <> 'removed'`,
      [organizationId, teamId],
    );
    return row!.count;
  }

  async insert(tx: Tx, agent: AgentEntity): Promise<void> {
    await tx.manager.getRepository<object>(AgentEntity).insert(agent);
  }

  /** Leaves `node_last_seen` alone: heartbeats write it, past the head. */
  async update(tx: Tx, agent: AgentEntity): Promise<void> {
    const { organizationId, id, nodeLastSeen: _, ...rest } = agent;
    await tx.manager.getRepository<object>(AgentEntity).update({ organizationId, id }, rest);
  }

  /** Writes the agent as it is in its new organization, and deletes the credentials that it had in the old one. */
  async move(tx: Tx, { organizationId, id }: AgentRef, moved: AgentEntity): Promise<void> {
    await tx.manager.getRepository<object>(AgentEntity).update({ organizationId, id }, moved);
    await this.deleteCredentials(tx, { organizationId, id });
  }

  /** Marks the agent as removed, for good, and deletes its credentials. */
  async remove(tx: Tx, agent: AgentEntity): Promise<void> {
    await this.update(tx, { ...agent, status: 'removed' });
    await this.deleteCredentials(tx, agent);
  }

  /** Marks an expired token as refreshed. @returns false when that was done before */
  async spendToken(tx: Tx, { organizationId, id }: AgentRef, tokenId: string, until: Date): Promise<boolean> {
    const rows = await tx.query(
      `insert into refreshed_tokens (organization_id, agent_id, jti, spent_until) values ($1, $2, $3, $4)
       on conflict do nothing returning jti`,
      [organizationId, id, tokenId, until],
    );
    return rows.length > 0;
  }

  private async deleteCredentials(tx: Tx, { organizationId, id }: AgentRef): Promise<void> {
    await tx.query('delete from refreshed_tokens where organization_id = $1 and agent_id = $2', [organizationId, id]);
    await tx.query('delete from setup_tokens where organization_id = $1 and agent_id = $2', [organizationId, id]);
    await tx.query('delete from agent_keys where organization_id = $1 and agent_id = $2', [organizationId, id]);
  }
}

/** An expired token that can no longer be refreshed need not be remembered. */
const deleteSpentTokens = cleanupStep(
  `delete from refreshed_tokens where (organization_id, agent_id, jti) in
     (select organization_id, agent_id, jti from refreshed_tokens where spent_until < clock_timestamp() limit $1)`,
);
