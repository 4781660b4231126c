import 'reflect-metadata';
import { isForBrowsers } from '../../request/browser-routes.js';
import { OPERATION } from '../../request/idempotent.js';

/** What a call may bring besides path, query and body, by the name of its component in the document. */
export const HEADER_PARAMETERS = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes it safe to repeat the call: for 24 hours the same key with the same body is answered as the first time, with ' +
      '`Idempotent-Replayed: true`, and nothing happens twice; an execution or a request is shown as it stands by then. With another ' +
      'body it is 422. Secrets are shown once: the repeated answer has null there.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$', example: '8e03978e-40d5-43dd-bc93-6894a57f9324' },
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    description:
      '`handling=lenient` (RFC 7240) has names that the operation does not know ignored. Without it they are refused with 400, since ' +
      'what is not known would not be obeyed.',
    schema: { type: 'string', example: 'handling=lenient' },
  },
  Traceparent: {
    name: 'traceparent',
    in: 'header',
    description:
      'W3C Trace Context. The trace\'s id stands in the entries that the call makes and in the server\'s log, and the header goes along ' +
      'with the call that the service makes for an execution.',
    schema: { type: 'string', maxLength: 128, example: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
  },
} as const;

/** What an answer may bring besides its body, by the name of its component. */
export const REPLY_HEADERS = {
  IdempotentReplayed: {
    description: 'Stands, as `true`, where the `Idempotency-Key` was used before, and nothing has happened anew.',
    schema: { type: 'string', example: 'true' },
  },
} as const;

export type HeaderParameter = keyof typeof HEADER_PARAMETERS;

/** The headers that do something on a route. */
export function headersOf(handler: object): HeaderParameter[] {
  return [
    ...(Reflect.hasMetadata(OPERATION, handler) ? ['IdempotencyKey' as const] : []),
    ...(isForBrowsers(handler) ? [] : ['Prefer' as const]),
    'Traceparent',
  ];
}
