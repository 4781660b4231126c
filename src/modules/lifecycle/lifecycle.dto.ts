import { Text } from '../../platform/http/fields/fields.js';

export class TransferDto {
  @Text({ max: 100, min: 1, doc: 'Where the agent goes.', example: 'org_…' })
  organizationId!: string;

  @Text({ max: 1_000, optional: true, doc: 'Why; stands in the audit logs of both organizations.' })
  reason?: string;
}
