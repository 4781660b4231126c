import { z } from 'zod';
import {
  anchorList, baseUrl, bearerSecret, days, destinationList, duration, flag, fraction, headerList, httpUrl, integer, key32, networkList,
  oneOf, originList, port, postgresUrl, rootKey, scopeList, secretText, text, webhookSecret,
} from './value-types.js';

/**
 * Every environment variable of the server: its type, its default and its line in `.env.example`.
 * A variable that is not here is not read.
 */
export interface VariableDoc {
  doc: string;
  /** Default as it would be written in the environment. */
  fallback?: string;
  /** Default that depends on other things, in words. */
  otherwise?: string;
  /** Also taken from the file that `<NAME>_FILE` names. */
  secret?: boolean;
}

const docs = new WeakMap<object, VariableDoc>();

export const docOf = (type: object): VariableDoc => docs.get(type) ?? { doc: '' };

function withDefault<T extends z.ZodType<unknown, string>>(fallback: string, type: T, doc: string) {
  const wrapped = type.prefault(fallback as z.input<T> & string);
  docs.set(wrapped, { doc, fallback });
  return wrapped;
}

function optional<T extends z.ZodType<unknown, string>>(type: T, doc: string, more: Omit<VariableDoc, 'doc'> = {}) {
  const wrapped = type.optional();
  docs.set(wrapped, { doc, ...more });
  return wrapped;
}

const secret = <T extends z.ZodType<unknown, string>>(type: T, doc: string, otherwise?: string) =>
  optional(type, doc, { secret: true, otherwise });

const DAY = 86_400;
const YEAR = 366 * DAY;
const MADE = 'made beside the embedded database; must be given with DATABASE_URL';

export const SERVER = {
  NODE_ENV: withDefault('development', oneOf(['development', 'test', 'production']), 'production refuses what suits a trial.'),
  PORT: withDefault('3000', port(), 'Port of the server.'),
  HOST: optional(text(), 'Address to listen on.', { otherwise: '0.0.0.0 in production, else 127.0.0.1' }),
  METRICS_PORT: optional(port(), 'Port of /metrics for Prometheus, on HOST; never PORT. Let nobody else reach it.', {
    otherwise: 'no metrics',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(baseUrl(), 'Where traces are sent: OTLP by HTTP, as JSON, to <it>/v1/traces.', {
    otherwise: 'no traces',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: secret(headerList(), 'Sent along: name=value, separated by commas, in percent encoding.', 'none'),
  OTEL_SERVICE_NAME: withDefault('countersign', text(), 'What traces call this service.'),
  OTEL_TRACES_SAMPLER_ARG: withDefault('1', fraction(), 'Part of traces that are kept, from 0 to 1, of those that no caller began.'),
  APP_URL: optional(baseUrl(), 'Address under which people reach the server; links in messages start with it.', {
    otherwise: 'http://localhost:<PORT>',
  }),
  SHUTDOWN_DELAY: optional(duration(0, 300), 'After SIGTERM a server is not ready for so long, and serves on, before it ends.', {
    otherwise: '5s; 0 with the embedded database',
  }),
  LOG_LEVEL: optional(oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']), 'Least level that is logged.', {
    otherwise: 'warn with the embedded database, else info',
  }),
  CORS_ORIGINS: withDefault('', originList(), 'Origins whose pages may call the API from a browser, separated by commas.'),
  TRUSTED_PROXIES: withDefault('', networkList(), 'Addresses or networks of proxies whose X-Forwarded-For counts.'),
  RATE_LIMIT_ANONYMOUS: withDefault('300', integer(0, 1e9), 'Unauthenticated calls a minute and address; 0 is no limit.'),
  RATE_LIMIT_PRINCIPAL: withDefault(
    '6000', integer(0, 1e9), 'Calls a minute of an agent, a user or root, whichever credential they show; 0 is no limit.',
  ),
} as const;

export const DATABASE = {
  DATABASE_URL: secret(postgresUrl(), 'PostgreSQL 15 or newer.', 'an embedded one, for trials; required in production'),
  DATABASE_POOL_SIZE: withDefault('10', integer(2, 1_000), 'Connections of one server process.'),
  DATABASE_LISTEN_URL: secret(postgresUrl(), 'For LISTEN, past a pooler that does not carry it.', 'DATABASE_URL'),
  POSTGRES_BIN: optional(text(), 'Folder with initdb and postgres to run instead of the embedded binaries.'),
  DATA_DIR: optional(text(), 'Folder of the embedded database and its secrets; a relative one is of the checkout.', {
    otherwise: '.countersign in the checkout',
  }),
} as const;

export const SECRETS = {
  ROOT_API_KEY: secret(rootKey(), 'Root key of the first set-up: svc_root_ and 64 hexadecimal digits.', 'made, and shown once'),
  ROOT_KEY_FILE: optional(text(), 'A made root key is written to this file (mode 0600) instead of being shown.'),
  JWT_SECRET: secret(secretText(32), 'Signs agents\' tokens (HS256); at least 32 characters.', MADE),
  ENCRYPTION_KEY: secret(key32(), 'Encrypts stored secrets; 32 bytes in base64.', MADE),
  JWT_SECRET_ACCEPTED: secret(secretText(32), 'While JWT_SECRET is replaced: the next one, then the former; its tokens count too.', 'none'),
  ENCRYPTION_KEY_ACCEPTED: secret(key32(), 'While ENCRYPTION_KEY is replaced: the next one, then the former; it opens too.', 'none'),
  AUDIT_SIGNING_KEY: secret(key32(), 'Signs audit checkpoints; a 32-byte Ed25519 seed in base64.', MADE),
  INTERNAL_API_KEY: secret(bearerSecret(32), 'Key of /internal/v1; at least 32 characters.', 'only the root key opens it'),
} as const;

export const AGENTS = {
  JWT_ISSUER: optional(text(), 'Issuer that agents\' tokens must then name.'),
  AGENT_JWT_TTL: withDefault('1h', duration(60, YEAR), 'Lifetime of an agent\'s token.'),
  AGENT_JWT_MAX: withDefault('24h', duration(60, YEAR), 'Longest lifetime that a token may claim.'),
  AGENT_REFRESH_WINDOW: withDefault('0', duration(0, YEAR), 'How long after its expiry a token may still be refreshed.'),
  AGENT_SESSION_MAX: withDefault('30d', duration(60, 10 * YEAR), 'Longest chain of refreshes without somebody vouching again.'),
  HITL_MAX_PENDING_PER_AGENT: withDefault('1000', integer(1, 1e6), 'Open requests that one agent may have.'),
  SEPARATION_OF_DUTIES: withDefault('standard', oneOf(['standard', 'strict']), 'Setting of new organizations.'),
} as const;

export const RUNTIMES = {
  RUNTIME_PRIMARY: withDefault('connector', oneOf(['connector', 'webhook', 'node']), 'Runs capabilities: connector, webhook or node.'),
  RUNTIME_FALLBACK: optional(oneOf(['true', 'false', 'connector', 'webhook', 'node']), 'Serves when the primary is away.', {
    otherwise: 'none; true is webhook',
  }),
  RUNTIME_WEBHOOK_URL: optional(httpUrl(), 'Where the webhook runtime posts its calls.'),
  WEBHOOK_SECRET: secret(webhookSecret(), 'Signs outgoing webhooks (Standard Webhooks): whsec_ form, or 32 characters or more.'),
  OUTBOUND_ALLOW: withDefault(
    '',
    destinationList(),
    'Destinations that connectors may reach though not public, separated by commas. Outside production private networks are open.',
  ),
} as const;

export const AUDIT = {
  AUDIT_CHECKPOINT_SECONDS: withDefault('5', integer(1, 600), 'Seconds between signed checkpoints while entries come.'),
  AUDIT_ANCHORS: optional(anchorList(), 'Where checkpoints are kept besides, separated by commas: file:<folder>, witness:<url>; or none.', {
    otherwise: 'file:<DATA_DIR>/anchors',
  }),
  AUDIT_UNANCHORED_MAX_SECONDS: optional(integer(1, YEAR), 'Without an anchor for so long, hardcoded capabilities stop.', {
    otherwise: 'off',
  }),
  AUDIT_RETENTION_DAYS: optional(days(0.000_001, 36_500), 'Entries older than this are archived and swept; fractions are for rehearsals.', {
    otherwise: 'kept',
  }),
  AUDIT_ARCHIVE: optional(text(), 'Folder that swept entries go to; it must be there.'),
  RECORDS_RETENTION_DAYS: optional(
    days(0.000_001, 36_500), 'Payloads of ended requests and executions are blanked after this; fractions are for rehearsals.',
    { otherwise: 'kept' },
  ),
} as const;

export const NOTIFICATIONS = {
  SMTP_HOST: optional(text(), 'Mail server.'),
  SMTP_PORT: withDefault('587', port(), 'Its port.'),
  SMTP_USER: optional(text(), 'Its user.'),
  SMTP_PASS: secret(text(), 'Its password.'),
  SMTP_FROM: optional(text(), 'Sender of mails.'),
  SLACK_WEBHOOK_URL: secret(httpUrl(), 'Slack incoming webhook.'),
  SLACK_BOT_TOKEN: secret(text(), 'Slack bot token, instead: its messages are changed once their requests are decided.'),
  SLACK_CHANNEL: optional(text(), 'Id of the channel that the bot posts to.'),
  SLACK_SIGNING_SECRET: secret(text(), 'Verifies calls from Slack; without it messages have links instead of buttons.'),
  SLACK_API_URL: withDefault('https://slack.com/api', baseUrl(), 'Where the bot calls, for other clouds of Slack.'),
  TEAMS_WEBHOOK_URL: secret(httpUrl(), 'Microsoft Teams workflow webhook.'),
  HITL_WEBHOOK_URL: secret(httpUrl(), 'Webhook for events of human approval; signed by WEBHOOK_SECRET.'),
} as const;

export const MODELS = {
  OPENAI_API_KEY: secret(text(), 'Key of the OpenAI family.'),
  OPENAI_BASE_URL: withDefault('https://api.openai.com/v1', baseUrl(), 'Its address.'),
  ANTHROPIC_API_KEY: secret(text(), 'Key of the Anthropic family.'),
  ANTHROPIC_BASE_URL: withDefault('https://api.anthropic.com', baseUrl(), 'Its address.'),
  LLM_PROVIDERS_FILE: optional(text(), 'File with further providers, and local servers (docs/llm.md).'),
  LLM_TIMEOUT: withDefault('120s', duration(1, 600), 'How long a call to a model may take, its stream included.'),
} as const;

export const SIGN_IN = {
  OIDC_ISSUER: optional(httpUrl(), 'Identity provider.'),
  OIDC_CLIENT_ID: optional(text(), 'Client registered with it.'),
  OIDC_CLIENT_SECRET: secret(text(), 'Secret of that client.'),
  OIDC_REDIRECT_URI: optional(httpUrl(), 'Address that the provider returns to.', {
    otherwise: '<APP_URL>/api/v1/auth/callback',
  }),
  OIDC_SCOPES: withDefault('openid profile email offline_access', scopeList(), 'Scopes that are asked for, separated by spaces.'),
  OIDC_AUDIENCE: optional(text(), 'Audience that its tokens must name.', { otherwise: 'OIDC_CLIENT_ID' }),
  OIDC_ADMIN_URL: optional(httpUrl(), 'Where accounts are deleted on erasure: DELETE there, the subject for {sub} or behind it.'),
  OIDC_JIT: withDefault('true', flag(), 'Whether unknown users get a record at first sight.'),
  OIDC_DEFAULT_ROLE: withDefault('viewer', oneOf(['viewer', 'member', 'admin', 'owner']), 'Role where a token names none.'),
  SESSION_IDLE: withDefault('8h', duration(60, YEAR), 'A session ends after so long without use.'),
  SESSION_MAX: withDefault('7d', duration(60, YEAR), 'A session ends after so long in any case.'),
} as const;

export const SECTIONS = [
  { title: 'Server', shape: SERVER },
  { title: 'Database', shape: DATABASE },
  { title: 'Keys and secrets (`node bin/countersign.mjs secrets` prints a set)', shape: SECRETS },
  { title: 'Agents and approvals', shape: AGENTS },
  { title: 'Runtimes', shape: RUNTIMES },
  { title: 'Audit log and retention', shape: AUDIT },
  { title: 'Notifications', shape: NOTIFICATIONS },
  { title: 'Language models', shape: MODELS },
  { title: 'Sign-in', shape: SIGN_IN },
] as const;

export const environmentSchema = z.object({
  ...SERVER, ...DATABASE, ...SECRETS, ...AGENTS, ...RUNTIMES, ...AUDIT, ...NOTIFICATIONS, ...MODELS, ...SIGN_IN,
});

export type Environment = z.output<typeof environmentSchema>;
export type VariableName = keyof Environment;
