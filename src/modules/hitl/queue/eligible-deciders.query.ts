import { Inject, Injectable } from '@nestjs/common';
import { type EscalationLevel, HIGHEST_LEVEL } from '../../../domain/hitl/transition.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import type { RequestRef } from '../requests/hitl-request.store.js';
import { type CandidateFilter, readEligibility } from './candidates.query.js';
import type { JudgedRequest } from './eligibility.js';
import { agentTiesOf, type TieColumns, tiesOf } from './request-ties.js';

/** A request, and the level that is asked about: its own, or the one that it is escalated to. */
export type RequestAtLevel = Pick<RequestRef, 'organizationId' | 'agentId' | 'id'> & TieColumns & { readonly level: EscalationLevel };

interface AgentRow extends Record<string, unknown> {
  readonly organizationId: string;
  readonly id: string;
  readonly ownerId: string | null;
  readonly registeredBy: string;
  readonly teamId: string | null;
}

const AGENTS = `
  select organization_id as "organizationId", id, owner_id as "ownerId", registered_by as "registeredBy", team_id as "teamId"
  from agents where (organization_id, id) in (select * from unnest($1::text[], $2::text[]))`;

/** Finds the eligible deciders of requests: candidates by SQL, whom the rules of deciding judge. */
@Injectable()
export class EligibleDecidersQuery {
  private readonly issuer: string | null;

  constructor(@Inject(CONFIG) { oidcIssuer }: Pick<CompleteConfig, 'oidcIssuer'>) {
    this.issuer = oidcIssuer ?? null;
  }

  /** @returns for each request that has exactly one eligible person of the level, by the request's id, that person */
  async onlyOnes(tx: Tx, requests: readonly RequestAtLevel[]): Promise<Map<string, string>> {
    if (requests.length === 0) return new Map();
    const judged = await this.judgedRequests(tx, requests);
    const near = judged.filter((_, i) => requests[i]!.level < HIGHEST_LEVEL);
    const eligibility = await this.read(tx, judged, {
      users: near.flatMap(({ agent: { ownerId } }) => (ownerId === undefined ? [] : [ownerId])),
      teams: near.flatMap(({ agent: { teamId } }) => (teamId === undefined ? [] : [teamId])),
      admins: near.length < judged.length,
    });
    const onlyOnes = new Map<string, string>();
    requests.forEach(({ id, level }, i) => {
      const eligible: string[] = [];
      for (const userId of eligibility.ofLevel(judged[i]!, level)) {
        if (eligible.length < 2 && eligibility.mayApprove(userId, judged[i]!, level)) eligible.push(userId);
      }
      if (eligible.length === 1) onlyOnes.set(id, eligible[0]!);
    });
    return onlyOnes;
  }

  /** Whether this person, of any organization, could approve the request at that level. */
  async mayApproveAt(tx: Tx, request: RequestAtLevel, userId: string): Promise<boolean> {
    const [judged] = await this.judgedRequests(tx, [request]);
    const eligibility = await this.read(tx, [judged!], { users: [userId], teams: [], admins: false });
    return eligibility.mayApprove(userId, judged!, request.level);
  }

  private read(tx: Tx, judged: readonly JudgedRequest[], filter: CandidateFilter) {
    const run: RunStatement = (sql, parameters) => tx.query(sql, parameters);
    return readEligibility(run, judged, filter, this.issuer);
  }

  private async judgedRequests(tx: Tx, requests: readonly RequestAtLevel[]): Promise<JudgedRequest[]> {
    const rows = await tx.query<AgentRow>(AGENTS, [
      requests.map(({ organizationId }) => organizationId), requests.map(({ agentId }) => agentId),
    ]);
    const agents = new Map(rows.map((row) => [`${row.organizationId} ${row.id}`, agentTiesOf(row)]));
    return requests.map((request) => {
      const { organizationId, agentId } = request;
      return { organizationId, ties: tiesOf(request), agent: agents.get(`${organizationId} ${agentId}`) ?? {} };
    });
  }
}
