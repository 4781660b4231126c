import { Text } from '../../../../platform/http/fields/fields.js';

export class LoginQuery {
  @Text({ doc: 'The path of ours to return to; anything else leads to the sign-in page.', max: 16_000, optional: true, example: '/docs' })
  readonly returnTo?: string;
}

/** What the provider sends along (RFC 6749, section 4.1.2; RFC 9207); its library reads all of it. */
export class CallbackQuery {
  @Text({ doc: 'The state that this service sent along.', max: 512, optional: true })
  readonly state?: string;

  @Text({ doc: 'The authorization code.', max: 4_096, optional: true })
  readonly code?: string;

  @Text({ doc: 'The provider that answers.', max: 2_048, optional: true })
  readonly iss?: string;

  @Text({ doc: 'Why it has not signed the person in.', max: 512, optional: true })
  readonly error?: string;
}
