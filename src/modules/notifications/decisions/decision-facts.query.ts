import { Injectable } from '@nestjs/common';
import type { SeparationOfDuties } from '../../../domain/hitl/duties.js';
import { StatementsOnPool } from '../../../platform/database/statements/statements-on-pool.js';
import type { RequestRow } from '../../hitl/requests/hitl-requests.query.js';

/** What a decision page shows of a request besides its row. */
export interface DecisionFacts {
  readonly organization: string;
  readonly separationNow: SeparationOfDuties;
  /** Null where the agent is not there any more. */
  readonly riskLevel: string | null;
  readonly ownerId: string | null;
  /** Users who were asked by the last question about the request. */
  readonly asked: readonly string[];
  /** Names, or addresses, of people by their ids. */
  readonly names: ReadonlyMap<string, string>;
}

interface Row extends Record<string, unknown> {
  readonly organization: string;
  readonly separationNow: SeparationOfDuties;
  readonly riskLevel: string | null;
  readonly ownerId: string | null;
  readonly asked: readonly string[];
}

const FACTS = `
  select o.name as organization, o.separation_of_duties as "separationNow", a.risk_level as "riskLevel", a.owner_id as "ownerId",
    array(select n.user_id from notifications n
          where n.organization_id = $1 and n.hitl_request_id = $3 and n.event_id = (
            select max(m.event_id) from notifications m where m.organization_id = $1 and m.hitl_request_id = $3
              and m.event in ('hitl.request.created', 'hitl.request.escalated'))
          order by n.user_id) as asked
  from organizations o left join agents a on a.organization_id = o.id and a.id = $2
  where o.id = $1`;

// Of accounts in whatever organization: an owner decides in all of their tenant.
const NAMES = `select u.id, coalesce(u.name, u.email) as name from users u where u.id = any ($1)`;

@Injectable()
export class DecisionFactsQuery {
  constructor(private readonly pool: StatementsOnPool) {}

  /** @param request that the caller may read; @param reader who reads it */
  async read(request: RequestRow, reader: string): Promise<DecisionFacts> {
    const { organizationId, agentId, id, votes, decidedBy, editedBy, escalatedTo } = request;
    const [row] = (await this.pool.run(FACTS, [organizationId, agentId, id])) as unknown as [Row];
    const people = [reader, row.ownerId, decidedBy, editedBy, escalatedTo, ...row.asked, ...(votes ?? []).map(({ voter }) => voter)];
    const ids = [...new Set(people)].filter((one) => one?.startsWith('usr_'));
    const names = (await this.pool.run(NAMES, [ids])).flatMap(({ id: user, name }): [string, string][] =>
      name === null ? [] : [[String(user), String(name)]]);
    return { ...row, names: new Map(names) };
  }
}
