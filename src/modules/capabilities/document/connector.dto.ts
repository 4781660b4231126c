import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { CONNECTOR_DEFAULTS } from '../../../domain/gate/connectors/connector-fields.js';
import { RECIPIENTS_MAX } from '../../../domain/gate/connectors/email-connector.js';
import { CONNECTOR_METHODS } from '../../../domain/gate/connectors/http-connector.js';
import type { JsonValue } from '../../../domain/json.js';
import { ANY_JSON } from '../../../platform/http/fields/any-json.js';
import { formsBy } from '../../../platform/http/fields/named-schema.js';

const INPUT = 'Texts may hold `{input.member}`, which stands for that member of the input.';
const SECRETS = '`{secrets.name}` stands for a secret, where the origin of `url` is one of the secret\'s.';
const HEADERS = 'None that frames the message; `Idempotency-Key` and `traceparent` are the service\'s own.';

// Declared once, for what is given and for what is answered, where defaults are filled in.
const timeoutSeconds = {
  type: 'integer', minimum: 1, maximum: 120,
  description: `Seconds until the call is given up, retries included. Default ${CONNECTOR_DEFAULTS.timeoutSeconds}.`,
} as const;
const maxBytes = {
  type: 'integer', minimum: 1, maximum: CONNECTOR_DEFAULTS.maxBytes,
  description: `How many bytes of an answer are read at most. Default ${CONNECTOR_DEFAULTS.maxBytes}.`,
} as const;
const idempotent = {
  description: `Whether it may be asked again with the same \`Idempotency-Key\`. Default ${CONNECTOR_DEFAULTS.idempotent}.`,
} as const;
const addresses: ApiPropertyOptions = {
  type: Object, oneOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: RECIPIENTS_MAX }],
  description: `E-mail addresses alone, ${RECIPIENTS_MAX} in all. \`{input.member}\` stands for one, or for a list of them.`,
};

/** As the documentation shows it; `checkConnector` reads it. */
export class HttpConnectorDto {
  @ApiProperty({ enum: ['http'] }) type!: 'http';
  @ApiProperty({ enum: CONNECTOR_METHODS }) method!: (typeof CONNECTOR_METHODS)[number];

  @ApiProperty({
    example: 'https://crm.example/contacts/{input.id}',
    description: 'Its origin stands as it is; path and query may hold `{input.member}`, which stands for that member of the input.',
  })
  url!: string;

  @ApiProperty({
    type: Object, required: false, additionalProperties: { type: ['string', 'number', 'boolean'] },
    description: `Added to the url. ${INPUT}`,
  })
  query?: Readonly<Record<string, string | number | boolean>>;

  @ApiProperty({
    type: Object, required: false, additionalProperties: { type: 'string' }, description: `${HEADERS} ${INPUT} ${SECRETS}`,
  })
  headers?: Readonly<Record<string, string>>;

  @ApiProperty({
    ...ANY_JSON, required: false, description: `Any JSON value; not with GET and HEAD. Without it nothing is sent. ${INPUT} ${SECRETS}`,
  })
  body?: JsonValue;

  @ApiProperty({ ...timeoutSeconds, required: false }) timeoutSeconds?: number;
  @ApiProperty({ ...maxBytes, required: false }) maxBytes?: number;
  @ApiProperty({ ...idempotent, required: false }) idempotent?: boolean;
}

/** The same of a tool on an MCP server. */
export class McpConnectorDto {
  @ApiProperty({ enum: ['mcp'] }) type!: 'mcp';

  @ApiProperty({
    example: 'https://tools.example/mcp',
    description: 'Of a server that speaks MCP by streamable HTTP. It stands as it is, without `{input…}`.',
  })
  url!: string;

  @ApiProperty({ example: 'create_ticket', description: 'The tool\'s name, exact. The input is its arguments.' }) tool!: string;

  @ApiProperty({
    type: Object, required: false, additionalProperties: { type: 'string' }, description: `${HEADERS} ${SECRETS} Without \`{input…}\`.`,
  })
  headers?: Readonly<Record<string, string>>;

  @ApiProperty({
    required: false,
    description: 'The digest of the tool as it was when the capability was defined: of name, description, schemas and annotations. ' +
      'A tool that has another one is not called. Given, the tool has to have it; left out, the tool is taken as it is now.',
  })
  toolDigest?: string;

  @ApiProperty({ ...timeoutSeconds, required: false }) timeoutSeconds?: number;
  @ApiProperty({ ...maxBytes, required: false }) maxBytes?: number;
  @ApiProperty({ ...idempotent, required: false }) idempotent?: boolean;
}

/** The same of a mail. */
export class EmailConnectorDto {
  @ApiProperty({ enum: ['email'] }) type!: 'email';
  @ApiProperty(addresses) to!: string | readonly string[];
  @ApiProperty({ ...addresses, required: false }) cc?: string | readonly string[];
  @ApiProperty({ ...addresses, required: false }) bcc?: string | readonly string[];
  @ApiProperty({ description: `One line. ${INPUT}` }) subject!: string;
  @ApiProperty({ description: `The mail as plain text. ${INPUT}` }) text!: string;
  @ApiProperty({ required: false, description: `The mail as HTML besides. ${INPUT} It is escaped there.` }) html?: string;
  @ApiProperty({ required: false, description: 'One e-mail address.' }) replyTo?: string;
  @ApiProperty({ ...timeoutSeconds, required: false }) timeoutSeconds?: number;
}

export class HttpConnectorReply extends HttpConnectorDto {
  @ApiProperty({ required: true }) override timeoutSeconds!: number;
  @ApiProperty({ required: true }) override maxBytes!: number;
  @ApiProperty({ required: true }) override idempotent!: boolean;
}

export class McpConnectorReply extends McpConnectorDto {
  @ApiProperty({ required: true }) override timeoutSeconds!: number;
  @ApiProperty({ required: true }) override maxBytes!: number;
  @ApiProperty({ required: true }) override idempotent!: boolean;
}

export class EmailConnectorReply extends EmailConnectorDto {
  @ApiProperty({ required: true }) override timeoutSeconds!: number;
}

const DOES = 'What the service does itself: an HTTP call, a call of a tool on an MCP server, or a mail by its own mail server.';

export const CONNECTOR = formsBy(
  'type', 'Connector', { http: HttpConnectorDto, mcp: McpConnectorDto, email: EmailConnectorDto }, DOES,
);

/** With its defaults filled in. */
export const CONNECTOR_REPLY = formsBy(
  'type', 'DefinedConnector', { http: HttpConnectorReply, mcp: McpConnectorReply, email: EmailConnectorReply }, `${DOES} With defaults.`,
);
