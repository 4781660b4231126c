import { SEPARATIONS, type SeparationOfDuties } from '../../domain/hitl/duties.js';
import { Flag, Nested, NotYet, OneOf, Text } from '../../platform/http/fields/fields.js';
import { PageQuery } from '../../platform/http/fields/pagination.js';

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

  @NotYet('the gateway to language models is not available yet')
  scanPii?: string;
}

export class UpdateOrganizationDto {
  @Text({ ...name, optional: true })
  name?: string;

  @Nested(() => OrganizationSettingsDto, { optional: true, doc: 'Settings left out stay.' })
  settings?: OrganizationSettingsDto;
}

export class OrganizationListQuery extends PageQuery {}
