import type { JsonObject } from '../../../domain/json.js';
import { FreeObject, Text } from '../../../platform/http/fields/fields.js';

const ANSWER = 'What the browser answered (WebAuthn Level 3, JSON form).';

export class PasskeySignInDto {
  @FreeObject({ doc: ANSWER, maxDepth: 6 })
  response!: JsonObject;

  @Text({ optional: true, nullable: true, max: 2_048, doc: 'A path of this service to go on to.' })
  returnTo?: string;
}

export class PasskeyOptionsDto {
  @Text({ optional: true, nullable: true, max: 1_024, doc: 'The present password, where the session is older than ten minutes.' })
  current?: string;
}

export class AddPasskeyDto {
  @FreeObject({ doc: ANSWER, maxDepth: 6 })
  response!: JsonObject;

  @Text({
    optional: true, nullable: true, min: 1, max: 100, singleLine: true, doc: 'What tells it from others. Default: where it was made.',
    example: 'phone',
  })
  name?: string;
}

export class InvitedPasskeyDto {
  @FreeObject({ doc: ANSWER, maxDepth: 6 })
  response!: JsonObject;
}
