import type { JsonObject } from '../../domain/json.js';
import { SEPARATIONS, type SeparationOfDuties } from '../../domain/hitl/duties.js';
import { Flag, FreeObject, Nested, OneOf, Text } from '../../platform/http/fields/fields.js';
import { PageQuery } from '../../platform/http/fields/pagination.js';
import { SCAN_PII, type ScanPii } from './organization.entity.js';

const name = { max: 200, min: 1, singleLine: true, doc: 'Shown to people.', example: 'Acme' } as const;

export class MakeOrganizationDto {
  @Text(name)
  name!: string;

  @Text({ min: 1, max: 100, optional: true, nullable: true, doc: 'The tenant it belongs to. An owner\'s: always their own tenant.' })
  tenantId?: string;
}

export class OrganizationSettingsDto {
  @OneOf(SEPARATIONS, {
    optional: true,
    doc: 'Who may not approve. `strict` also bars who stands behind the agent, and rights younger than the request. Set by owners.',
  })
  separationOfDuties?: SeparationOfDuties;

  @Flag({
    optional: true,
    doc: 'Whether links in mails decide requests of level 0 and 1 without signing in, once each. Of no effect under `strict`.',
  })
  decideByMail?: boolean;

  @OneOf(SCAN_PII, {
    optional: true,
    doc: '`required`: nobody may leave the scan of calls to models out, and what no scan reads does not leave.',
  })
  scanPii?: ScanPii;

  @FreeObject({
    optional: true, maxDepth: 3, example: { action: 'tokenize' },
    doc: 'What the scan looks for and does: `action`, `entities`, `answers`, `allow`, `terms`. Replaces what was set; `{}` is the default.',
  })
  pii?: JsonObject;
}

export class UpdateOrganizationDto {
  @Text({ ...name, optional: true })
  name?: string;

  @Nested(() => OrganizationSettingsDto, { optional: true, doc: 'Settings left out stay.' })
  settings?: OrganizationSettingsDto;
}

export class OrganizationListQuery extends PageQuery {}
