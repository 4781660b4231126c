import { setImmediate } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import { type EscalationLevel, HIGHEST_LEVEL } from '../../../domain/hitl/transition.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import type { Approvers, ApproverSource, AskedOfPeople } from '../../agents/grants/possible-approvers.js';
import type { RequestRef } from '../requests/hitl-request.store.js';
import { type CandidateFilter, readEligibility } from './candidates.query.js';
import type { DecidableBy } from './decidable-by.js';
import { type JudgedRequest, ownersOf } from './eligibility.js';
import { agentTiesOf, type TieColumns, tiesOf } from './request-ties.js';

type TiedRequest = Pick<RequestRef, 'organizationId' | 'agentId' | 'id'> & TieColumns;

/** A request, and the level that is asked about: its own, or the one that it is escalated to. */
export type RequestAtLevel = TiedRequest & { readonly level: EscalationLevel };

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

/** Of so many people it is asked whether they may approve before other calls get the processor. */
const PEOPLE_AT_ONCE = 2_000;

/** Finds the eligible deciders of requests: candidates by SQL, whom the rules of deciding judge. */
@Injectable()
export class EligibleDecidersQuery implements ApproverSource {
  private readonly issuer: string | null;

  constructor(@Inject(CONFIG) { oidcIssuer }: Pick<CompleteConfig, 'oidcIssuer'>) {
    this.issuer = oidcIssuer ?? null;
  }

  /** @returns for each request that has exactly one eligible person of the level, by the request's id, that person */
  async onlyOnes(tx: Tx, requests: readonly RequestAtLevel[]): Promise<Map<string, string>> {
    if (requests.length === 0) return new Map();
    const run = runIn(tx);
    const judged = await this.judgedRequests(run, requests);
    const near = judged.filter((_, i) => requests[i]!.level < HIGHEST_LEVEL);
    const eligibility = await this.read(run, judged, { ...nearTo(near), admins: near.length < judged.length });
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
    const [judged] = await this.judgedRequests(runIn(tx), [request]);
    const eligibility = await this.read(runIn(tx), [judged!], { users: [userId], teams: [], admins: false });
    return eligibility.mayApprove(userId, judged!, request.level);
  }

  /** By how many people each request can be approved now, at the level at which it stands; read for people, never for a decision. */
  async decidableBy(run: RunStatement, requests: readonly TiedRequest[]): Promise<DecidableBy[]> {
    if (requests.length === 0) return [];
    const judged = await this.judgedRequests(run, requests);
    const eligibility = await this.read(run, judged, { ...nearTo(judged), admins: true });
    const found: DecidableBy[] = [];
    let asked = 0;
    for (const request of judged) {
      const { level } = request.ties;
      const approvers = eligibility.approversOf(request, level);
      const adminsOnly = approvers.length > 0 && approvers.every(({ role }) => role !== 'member');
      found.push({ count: approvers.length, level, ...(adminsOnly ? { adminsOnly } : {}) });
      asked += eligibility.candidatesIn(request.organizationId);
      if (asked < PEOPLE_AT_ONCE) continue;
      asked = 0;
      await setImmediate();
    }
    return found;
  }

  /** Who could approve what such an agent is yet to ask, where nobody but the agent is behind it. */
  async approversOf(tx: Tx, { organizationId, agent, level, teams }: AskedOfPeople): Promise<Approvers> {
    // A request is younger than all rights of this moment.
    const createdAt = new Date((await tx.now()).getTime() + 1);
    const ties = { level, createdAt, separationOfDuties: 'standard', initiators: [], agent } as const;
    const request: JudgedRequest = { organizationId, ties, agent };
    const near = nearTo([request]);
    const eligibility = await this.read(runIn(tx), [request], { ...near, teams: [...near.teams, ...teams], admins: true, selves: true });
    const approvers = eligibility.approversOf(request, level).map(({ userId: id, role }) =>
      ({ id, role, teamIds: eligibility.teamsOf(id, organizationId) }));
    return { approvers, selves: eligibility.selvesOf(request, approvers.map(({ id }) => id)) };
  }

  private read(run: RunStatement, judged: readonly JudgedRequest[], filter: CandidateFilter) {
    return readEligibility(run, judged, filter, this.issuer);
  }

  private async judgedRequests(run: RunStatement, requests: readonly TiedRequest[]): Promise<JudgedRequest[]> {
    const rows = await run(AGENTS, [
      requests.map(({ organizationId }) => organizationId), requests.map(({ agentId }) => agentId),
    ]) as AgentRow[];
    const agents = new Map(rows.map((row) => [`${row.organizationId} ${row.id}`, agentTiesOf(row)]));
    return requests.map((request) => {
      const { organizationId, agentId } = request;
      return { organizationId, ties: tiesOf(request), agent: agents.get(`${organizationId} ${agentId}`) ?? {} };
    });
  }
}

const runIn = (tx: Tx): RunStatement => (sql, parameters) => tx.query(sql, parameters);

/** The people who belong to the agents of these requests: their owners and the members of their teams. */
function nearTo(requests: readonly JudgedRequest[]): Pick<CandidateFilter, 'users' | 'teams'> {
  return {
    users: requests.flatMap(ownersOf),
    teams: requests.flatMap(({ agent: { teamId } }) => (teamId === undefined ? [] : [teamId])),
  };
}
