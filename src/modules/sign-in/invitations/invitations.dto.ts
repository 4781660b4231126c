import { ROLES, type Role } from '../../../domain/access/access.js';
import { EMAIL_ADDRESS, EMAIL_ADDRESS_MAX } from '../../../domain/access/person.js';
import { OneOf, Text } from '../../../platform/http/fields/fields.js';
import { PageQuery } from '../../../platform/http/fields/pagination.js';

export class InviteDto {
  @Text({
    min: 3, max: EMAIL_ADDRESS_MAX, pattern: EMAIL_ADDRESS, patternMeans: 'an e-mail address of at most 254 characters',
    example: 'ada@example.com', doc: 'To whom it goes. Of an account that is there already, it is another way into that account.',
  })
  email!: string;

  @OneOf(ROLES, { doc: 'None above your own. Of an account that is there already: its own.' })
  role!: Role;

  @Text({
    min: 1, max: 200, singleLine: true, optional: true, nullable: true, doc: 'Of the account that is made.', example: 'Ada Lovelace',
  })
  name?: string;

  @Text({ max: 100, optional: true, doc: 'One of those that you reach. Default: your own; for root the first one.' })
  organizationId?: string;
}

export class InvitationListQuery extends PageQuery {
  @Text({ max: 100, optional: true, doc: 'Only this organization, of those that you reach.' })
  organizationId?: string;
}
