import { Injectable } from '@nestjs/common';
import { firstIdAt } from '../../domain/ids.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import { scopeCondition } from '../../platform/auth/access/scope.js';
import { invalid } from '../../platform/http/fields/read-members.js';
import { Statements } from '../../platform/database/statements/statements.js';
import type { ModelUsageReply, UsageQuery, LlmUsageReply } from './llm.dto.js';

const DAY_MS = 86_400_000;
const DEFAULT_DAYS = 30;
const DAYS_MAX = 92;

/** What models were used, added up from the executions: no call has a counter that it shares with others. */
@Injectable()
export class UsageService {
  constructor(private readonly statements: Statements) {}

  /** @throws Problem VALIDATION_FAILED */
  async read({ organizationId, agentId, from, to = new Date() }: UsageQuery, { scope }: Caller): Promise<LlmUsageReply> {
    const since = from ?? new Date(to.getTime() - DEFAULT_DAYS * DAY_MS);
    if (to < since) throw invalid([{ pointer: '?to', message: 'must not be before from' }]);
    if (to.getTime() - since.getTime() > DAYS_MAX * DAY_MS) {
      throw invalid([{ pointer: '?from', message: `must be at most ${DAYS_MAX} days before to` }]);
    }
    const within = scopeCondition(scope, { organization: 'e.organization_id', agent: 'e.agent_id' }, 5);
    const usage = await this.statements.byKey<ModelUsageReply & Record<string, unknown>>(
      `select to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD') as day, e.agent_id as "agentId",
         coalesce(e.input::json ->> 'model', '') as model, count(*)::integer as calls,
         (count(*) filter (where e.status <> 'executed'))::integer as failed,
         coalesce(sum((e.output::json #>> '{usage,promptTokens}')::numeric), 0)::double precision as "promptTokens",
         coalesce(sum((e.output::json #>> '{usage,completionTokens}')::numeric), 0)::double precision as "completionTokens"
       from executions e
       where e.organization_id in (select id from organizations) and e.runtime = 'llm' and e.status in ('executed', 'failed')
         and e.id >= $1 and e.id < $2 and ($3::text is null or e.organization_id = $3) and ($4::text is null or e.agent_id = $4)
         and ${within.sql}
       group by 1, 2, 3 order by 1 desc, 2, 3`,
      [
        firstIdAt('exec', since.getTime()), firstIdAt('exec', to.getTime() + 1), organizationId ?? null, agentId ?? null,
        ...within.parameters,
      ],
    );
    return { from: since.toISOString(), to: to.toISOString(), usage: usage.map((row) => ({ ...row })) };
  }
}
