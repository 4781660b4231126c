import { ApiProperty } from '@nestjs/swagger';
import { CONNECTOR_DEFAULTS, CONNECTOR_METHODS } from '../../../domain/gate/connector-definition.js';
import type { JsonValue } from '../../../domain/json.js';
import { ANY_JSON } from '../../../platform/http/fields/any-json.js';

const { timeoutSeconds, maxBytes, idempotent } = CONNECTOR_DEFAULTS;
const TEXTS = 'Texts may hold `{input.member}`, which stands for that member of the input.';

/** As the documentation shows it; `checkConnector` reads it. */
export class ConnectorDto {
  @ApiProperty({
    enum: ['http', 'node'],
    description: '`http`: the service makes an HTTP call, by all of the members below. `node`: the node of the agent does it, by '
      + '`timeoutSeconds` and `idempotent` alone.',
  })
  type!: 'http' | 'node';

  @ApiProperty({ enum: CONNECTOR_METHODS, required: false, description: 'Of `http`, and required there.' })
  method?: (typeof CONNECTOR_METHODS)[number];

  @ApiProperty({
    example: 'https://crm.example/contacts/{input.id}', required: false,
    description: 'Of `http`, and required there. Its origin stands as it is; path and query may hold `{input.member}`, which stands for '
      + 'that member of the input.',
  })
  url?: string;

  @ApiProperty({
    type: Object, required: false, additionalProperties: { type: ['string', 'number', 'boolean'] },
    description: `Added to the url. ${TEXTS}`,
  })
  query?: Readonly<Record<string, string | number | boolean>>;

  @ApiProperty({
    type: Object, required: false, additionalProperties: { type: 'string' },
    description: `None that frames the message; \`Idempotency-Key\` and \`traceparent\` are the service's own. ${TEXTS}`,
  })
  headers?: Readonly<Record<string, string>>;

  @ApiProperty({ ...ANY_JSON, required: false, description: `Any JSON value; not with GET and HEAD. Without it nothing is sent. ${TEXTS}` })
  body?: JsonValue;

  @ApiProperty({
    type: 'integer', minimum: 1, maximum: 120, required: false,
    description: `Seconds until the call is given up, retries included. Default ${timeoutSeconds}.`,
  })
  timeoutSeconds?: number;

  @ApiProperty({
    type: 'integer', minimum: 1, maximum: maxBytes, required: false,
    description: `How many bytes of an answer are read at most. Default ${maxBytes}.`,
  })
  maxBytes?: number;

  @ApiProperty({ required: false, description: `Whether it may be asked again with the same \`Idempotency-Key\`. Default ${idempotent}.` })
  idempotent?: boolean;
}

/** With its defaults filled in. */
export class ConnectorReply extends ConnectorDto {
  @ApiProperty({ required: true }) override timeoutSeconds!: number;
  @ApiProperty({ required: true }) override idempotent!: boolean;
}
