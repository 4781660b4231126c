import { PASSWORD_MAX, PASSWORD_MIN } from '../../../domain/access/password-rules.js';
import { Text } from '../../../platform/http/fields/fields.js';

export class ChangePasswordDto {
  @Text({
    max: PASSWORD_MAX,
    doc: `From ${PASSWORD_MIN} to ${PASSWORD_MAX} characters; none that many people choose, nor one that names you.`,
  })
  password!: string;

  @Text({ max: 1_000, optional: true, doc: 'The present one. Needed unless the session is at most ten minutes old.' })
  current?: string;
}
