import { Inject, Injectable } from '@nestjs/common';
import type { SeparationOfDuties } from '../../../domain/hitl/duties.js';
import { isOpen } from '../../../domain/hitl/transition.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { StatementsOnPool } from '../../../platform/database/statements/statements-on-pool.js';
import { queueMembers } from '../../hitl/queue/queue-members.js';
import { agentTiesOf, tiesOf } from '../../hitl/queue/request-ties.js';
import type { RequestRow } from '../../hitl/requests/hitl-requests.query.js';

/** What a decision page shows of a request besides its row. */
export interface DecisionFacts {
  readonly organization: string;
  readonly separationNow: SeparationOfDuties;
  /** Null where the agent is not there any more. */
  readonly riskLevel: string | null;
  readonly ownerId: string | null;
  /** In whose queues it stands, while it is open. */
  readonly asked: readonly string[];
  /** Names, or addresses, of people by their ids. */
  readonly names: ReadonlyMap<string, string>;
}

interface Row {
  readonly organization: string;
  readonly separationNow: SeparationOfDuties;
  readonly riskLevel: string | null;
  readonly ownerId: string | null;
  readonly registeredBy: string | null;
  readonly teamId: string | null;
}

const FACTS = `
  select o.name as organization, o.separation_of_duties as "separationNow", a.risk_level as "riskLevel", a.owner_id as "ownerId",
    a.registered_by as "registeredBy", a.team_id as "teamId"
  from organizations o left join agents a on a.organization_id = o.id and a.id = $2
  where o.id = $1`;

// Of accounts in whatever organization: an owner decides in all of their tenant.
const NAMES = `select u.id, coalesce(u.name, u.email) as name from users u where u.id = any ($1)`;

@Injectable()
export class DecisionFactsQuery {
  constructor(
    private readonly pool: StatementsOnPool,
    @Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'oidcIssuer'>,
  ) {}

  /** @param request that the caller may read; @param reader who reads it */
  async read(request: RequestRow, reader: string): Promise<DecisionFacts> {
    const { organizationId, agentId, votes, decidedBy, editedBy, escalatedTo } = request;
    const [row] = (await this.pool.run(FACTS, [organizationId, agentId])) as unknown as [Row];
    const asked = await this.askedAbout(request, row);
    const people = [reader, row.ownerId, decidedBy, editedBy, escalatedTo, ...asked, ...(votes ?? []).map(({ voter }) => voter)];
    const ids = [...new Set(people)].filter((one) => one?.startsWith('usr_'));
    const named = (await this.pool.run(NAMES, [ids])) as unknown as readonly { readonly id: string; readonly name: string | null }[];
    const names = new Map(named.flatMap(({ id, name }): [string, string][] => (name === null ? [] : [[id, name]])));
    return { ...row, asked, names };
  }

  private async askedAbout(request: RequestRow, row: Row): Promise<readonly string[]> {
    if (!isOpen(request.status)) return [];
    const { organizationId, escalationLevel: level, escalatedTo } = request;
    const queued = { organizationId, ties: tiesOf(request), agent: agentTiesOf(row), level, escalatedTo };
    const [members = []] = await queueMembers(this.pool.run, [queued], this.config.oidcIssuer ?? null);
    return members;
  }
}
