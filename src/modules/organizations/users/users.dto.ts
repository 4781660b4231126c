import { ROLES, type Role } from '../../../domain/access/access.js';
import { EMAIL_ADDRESS, EMAIL_ADDRESS_MAX } from '../../../domain/access/person.js';
import { OneOf, Text } from '../../../platform/http/fields/fields.js';
import { PageQuery } from '../../../platform/http/fields/pagination.js';

/** Without a user part, which would be a password that everybody sees. */
const HTTPS_URL = /^https:\/\/[A-Za-z0-9.-]+(?::\d{1,5})?(?:[/?#][\x21-\x7e]*)?$/;

const email = {
  min: 3, max: EMAIL_ADDRESS_MAX, pattern: EMAIL_ADDRESS,
  patternMeans: 'an e-mail address of at most 254 characters', example: 'ada@example.com',
  doc: 'Unique among the active accounts of an organization, whatever its case.',
} as const;
const name = { min: 1, max: 200, singleLine: true, optional: true, doc: 'Shown to people.', example: 'Ada Lovelace' } as const;
const avatarUrl = {
  max: 2_000, pattern: HTTPS_URL, patternMeans: 'an https address of at most 2000 characters, without credentials', optional: true,
  doc: 'A picture. The service never fetches it.',
} as const;

export class MakeUserDto {
  @Text(email)
  email!: string;

  @Text({ ...name, nullable: true })
  name?: string;

  @Text({ ...avatarUrl, nullable: true })
  avatarUrl?: string;

  @OneOf(ROLES, { optional: true, doc: 'None above your own. Default `viewer`.' })
  role?: Role;

  @Text({ max: 100, optional: true, doc: 'One of those that you reach. Default: your own; for root the first one.' })
  organizationId?: string;
}

export class UpdateUserDto {
  @Text({ ...email, optional: true })
  email?: string;

  @Text({ ...name, clearable: true })
  name?: string | null;

  @Text({ ...avatarUrl, clearable: true })
  avatarUrl?: string | null;

  @OneOf(ROLES, { optional: true, doc: 'None above your own, and not your own. Counts at their next call.' })
  role?: Role;
}

export class UserListQuery extends PageQuery {
  @OneOf(ROLES, { optional: true, doc: 'Only this role.' })
  role?: string;

  @OneOf(['active', 'deleted', 'erased'], { optional: true, doc: 'Only this status. Default `active`.' })
  status?: string;

  @Text({ max: 100, optional: true, doc: 'Only this organization, of those that you reach.' })
  organizationId?: string;
}
