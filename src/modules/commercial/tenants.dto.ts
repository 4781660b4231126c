import { TIERS, type Tier } from '../../domain/access/tiers.js';
import { Flag, OneOf, Text, Timestamp } from '../../platform/http/fields/fields.js';
import { PageQuery } from '../../platform/http/fields/pagination.js';

const name = { min: 1, max: 200, singleLine: true, doc: 'Shown to people; its first organization is called the same.', example: 'Acme' };

export class MakeTenantDto {
  @Text(name)
  name!: string;

  @OneOf(TIERS, { optional: true, doc: 'What it has subscribed to. Default `personal`.' })
  tier?: Tier;
}

export class UpdateTenantDto {
  @Text({ ...name, doc: 'Shown to people. Its organizations keep their names.', optional: true })
  name?: string;
}

export class SubscriptionDto {
  @OneOf(TIERS, { doc: 'From the answer on, nothing new comes over its limits; what is there stays.' })
  tier!: Tier;

  @Flag({ doc: 'Whether it is paid. Without an active subscription the limits of `personal` hold.' })
  active!: boolean;
}

export class TenantListQuery extends PageQuery {
  @OneOf(['active', 'deleted'], { optional: true, doc: 'Default `active`.' })
  status?: 'active' | 'deleted';
}

export class UsageQueryDto {
  @Timestamp({
    optional: true, date: 'start', doc: 'Executions not before; a bare date is the whole UTC day. Default: 30 days before `to`.',
  })
  from?: Date;

  @Timestamp({ optional: true, date: 'end', doc: 'Executions not after; a bare date is the whole UTC day. Default: now.' })
  to?: Date;
}

export class VerifyTokenDto {
  @Text({ min: 1, max: 16_000, doc: 'A JWT of the identity provider, without `Bearer`.' })
  token!: string;
}
