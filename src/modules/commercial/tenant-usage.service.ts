import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/auth/access/principal.js';
import { invalid } from '../../platform/http/fields/read-members.js';
import type { UsageQueryDto } from './tenants.dto.js';
import { presentUsage, type UsageEnvelope } from './tenants.presenter.js';
import { TenantsQuery } from './tenants.query.js';
import { UsageQuery } from './usage.query.js';

const THIRTY_DAYS_MS = 30 * 86_400_000;

/** What the platform bills by. */
@Injectable()
export class TenantUsageService {
  constructor(
    private readonly tenants: TenantsQuery,
    private readonly usage: UsageQuery,
  ) {}

  /** @throws Problem NOT_FOUND, VALIDATION_FAILED for a time that ends before it begins */
  async of(id: string, { from: first, to = new Date() }: UsageQueryDto, { scope }: Caller): Promise<UsageEnvelope> {
    const from = first ?? new Date(to.getTime() - THIRTY_DAYS_MS);
    if (from > to) throw invalid([{ pointer: '?from', message: 'must not be later than `to`' }]);
    await this.tenants.read(scope, id);
    return { usage: presentUsage(await this.usage.read(scope, id, from, to)) };
  }
}
