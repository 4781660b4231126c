import { Injectable } from '@nestjs/common';
import { PLATFORM_ORGANIZATION } from '../../../domain/audit/entry/chain.js';
import { logLines, type ExportSelection } from '../../../domain/audit/export/log-lines.js';
import { given } from '../../../domain/given.js';
import { isId } from '../../../domain/ids.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { type Scope, scopeOfOrganization } from '../../../platform/auth/access/scope.js';
import { Entitlements } from '../../../platform/commerce/entitlements.js';
import { StatementsOnPool } from '../../../platform/database/statements/statements-on-pool.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { assertPeriod } from '../../../platform/http/fields/period.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { OrganizationsQuery } from '../../organizations/organizations.query.js';
import type { LogExportQuery } from './export.dto.js';
import { ExportsService, type ExportCall } from './exports.service.js';
import { organizationsWithLog } from '../query/organizations.query.js';
import { refusedSize, type RefusedSize } from './earlier-tree-sizes.js';
import { recordExport } from './record-export.js';

/** Exports the log in bulk. */
@Injectable()
export class ExportLogService {
  constructor(
    private readonly desk: ExportsService,
    private readonly organizations: OrganizationsQuery,
    private readonly work: UnitOfWork,
    private readonly pool: StatementsOnPool,
    private readonly entitlements: Entitlements,
  ) {}

  /**
   * @throws Problem NOT_FOUND for an organization or an agent of which nothing is here; VALIDATION_FAILED for a size that a tree has
   *   not reached, or a period that ends before it begins; TIER_REQUIRED, UNAVAILABLE, RATE_LIMITED
   */
  async export(call: ExportCall, query: LogExportQuery): Promise<void> {
    const { agentId, since, platformSince, organizationId } = query;
    if (agentId !== undefined && !isId('agt', agentId)) throw new Problem('NOT_FOUND', 'There is no such agent.');
    assertPeriod(query);
    const scope = await this.scopeOf(call.caller.scope, organizationId);
    await this.assertMayExport(scope, call.caller);
    const part = given({ from: query.from?.toISOString(), to: query.to?.toISOString(), agentId });
    await this.desk.serve(call, async (source, { run }) => {
      const organizations = await organizationsWithLog(run, scope, agentId);
      if (agentId !== undefined && organizations.length === 0) throw new Problem('NOT_FOUND', 'No entry of this agent is here.');
      const pasts = given({ since, platformSince });
      const refused = await refusedSize(source, organizations, pasts, '`organization_id`');
      if (refused) throw sizeRefused(refused);
      const all = scope.organizations === 'all' && agentId === undefined;
      const selection: ExportSelection = { organizations, ...(all && { all }), ...part, ...pasts };
      await recordExport(this.work, organizations, { type: 'admin.audit_exported', metadata: { ...part, format: call.format } });
      const name = `countersign-audit-${organizations.length === 1 ? organizations[0] : 'all'}`;
      return { name, tally: { withheld: 0 }, lines: (madeAt) => logLines(source, selection, madeAt) };
    });
  }

  /**
   * The organizations of a scope are of one tenant. Everything at once is no tenant's: whoever operates the service takes its log along.
   *
   * @throws Problem TIER_REQUIRED
   */
  private async assertMayExport({ organizations }: Scope, caller: Caller): Promise<void> {
    if (organizations !== 'all') await this.entitlements.assert(this.pool.run, organizations[0]!, 'bulk_export', caller);
  }

  private async scopeOf(scope: Scope, named: string | undefined): Promise<Scope> {
    if (named === undefined) return scope;
    // The platform's own is none of those that one can make or change, but its log is one like theirs.
    if (named === PLATFORM_ORGANIZATION && scope.organizations === 'all') return scopeOfOrganization(named);
    return scopeOfOrganization(await this.organizations.choose(scope, named));
  }
}

function sizeRefused({ parameter, message }: RefusedSize): Problem {
  return new Problem('VALIDATION_FAILED', `\`${parameter}\`: ${message}`, { errors: [{ pointer: `?${parameter}`, message }] });
}
