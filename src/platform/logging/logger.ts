import { destination, pino, type Logger } from 'pino';

export type { Logger } from 'pino';

/** Members that never reach the log, at the top of an entry and one and two levels below. */
const SECRET_MEMBERS = [
  'authorization', 'Authorization', 'cookie', 'cookies', '["set-cookie"]', '["x-api-key"]', '["proxy-authorization"]', 'password',
  'token', 'accessToken', 'refreshToken', 'setupToken', 'secret', 'secrets', 'clientSecret', 'apiKey', 'rootKey', 'rootApiKey',
  'internalApiKey', 'key', 'jwtSecret', 'jwtSecretAccepted', 'encryptionKey', 'encryptionKeyAccepted', 'markKey', 'auditSigningKey',
  'webhookSecret', 'databaseUrl', 'connectionString',
] as const;

const under = (prefix: string) => SECRET_MEMBERS.map((name) => (name.startsWith('[') ? `${prefix}${name}` : `${prefix}.${name}`));

const REDACTED = [
  ...SECRET_MEMBERS,
  ...under('*'),
  ...under('*.*'),
  ...under('req.headers'),
  ...under('res.headers'),
];

/** Credentials inside of a text, such as an error message that quotes a connection string or a header. */
const CREDENTIALS: readonly [RegExp, string][] = [
  [/svc_(root|user)_[0-9a-f]{8,}/gi, 'svc_$1_[redacted]'],
  [/\bey[A-Za-z0-9_-]{8,}\.ey[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+/g, '[redacted token]'],
  [/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, '$1 [redacted]'],
  [/\b([a-z][a-z0-9+.-]*:\/\/[^\s:/@]*):[^\s@/]+@/gi, '$1:[redacted]@'],
];

/** Takes keys, tokens and passwords out of a text that is about to be logged or shown. */
export function withoutCredentials(text: string): string {
  return CREDENTIALS.reduce((kept, [pattern, replacement]) => kept.replace(pattern, replacement), text);
}

/**
 * The process's logger: one JSON object a line, so that text from outside cannot forge an entry (line breaks are escaped),
 * written at once, so that the last words of a process that ends are not lost.
 */
export function createLogger(
  config: { readonly logLevel: string },
  stream: { write(line: string): void } = destination({ dest: 1, sync: true }),
): Logger {
  return pino(
    {
      level: config.logLevel,
      base: { service: 'countersign', pid: process.pid },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: REDACTED, censor: '[redacted]' },
      hooks: {
        logMethod(args, method) {
          method.apply(this, args.map((part) => (typeof part === 'string' ? withoutCredentials(part) : part)) as typeof args);
        },
      },
      serializers: { err: errorWithoutCredentials, error: errorWithoutCredentials },
    },
    stream,
  );
}

function errorWithoutCredentials(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { code } = error as NodeJS.ErrnoException;
  return {
    type: error.name,
    message: withoutCredentials(error.message),
    ...(code === undefined ? {} : { code }),
    stack: withoutCredentials(error.stack ?? ''),
    ...(error.cause === undefined ? {} : { cause: errorWithoutCredentials(error.cause) }),
  };
}
