import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { crossChecks, NO_ANCHOR } from './cross-checks.js';
import { docOf, environmentSchema, type Environment, type VariableName } from './config.schema.js';
import type { ModelProvider } from '../../domain/llm/model-provider.js';
import { checkoutRoot } from './checkout-root.js';
import { readModelProviders } from './model-providers.js';
import { StartRefused } from './start-refused.js';

type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${PascalCase<Tail>}`
  : Lowercase<S>;
type PascalCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Capitalize<Lowercase<Head>>}${PascalCase<Tail>}`
  : Capitalize<Lowercase<S>>;
type CamelCased<T> = { readonly [K in keyof T as CamelCase<K & string>]: T[K] };

export type RuntimeName = 'connector' | 'webhook' | 'node';

/** What is said anew below: with a default that depends on other things. */
type Derived =
  | 'runtimeFallback' | 'host' | 'appUrl' | 'dataDir' | 'logLevel' | 'auditAnchors' | 'shutdownDelay' | 'oidcRedirectUri' | 'oidcAudience'
  | 'llmProvidersFile';

/** The environment, checked: `PORT` is `port`, `AGENT_JWT_TTL` is `agentJwtTtl`. Lengths of time are in seconds. */
export type Config = Omit<CamelCased<Environment>, Derived> & {
  readonly production: boolean;
  /** Whether the server brings its own database: no DATABASE_URL. */
  readonly embedded: boolean;
  readonly host: string;
  readonly appUrl: string;
  readonly dataDir: string;
  readonly logLevel: NonNullable<Environment['LOG_LEVEL']>;
  /** In seconds. */
  readonly shutdownDelay: number;
  readonly runtimeFallback?: RuntimeName;
  /** Each `file:<folder>` or `witness:<url>`; none where the operator wants none. */
  readonly auditAnchors: readonly string[];
  readonly oidcRedirectUri: string;
  /** Whoever runs models: those of LLM_PROVIDERS_FILE, then those of the two families that are set up. */
  readonly modelProviders: readonly ModelProvider[];
  /** Where there is a provider. */
  readonly oidcAudience?: string | undefined;
};

/** Secrets that the server cannot serve without. */
export interface ServerSecrets {
  readonly jwtSecret: string;
  /** 32 bytes in base64. */
  readonly encryptionKey: string;
  /** 32-byte Ed25519 seed in base64. */
  readonly auditSigningKey: string;
  /** The next one or the former, while one is replaced: it verifies or opens, and makes nothing. */
  readonly jwtSecretAccepted?: string | undefined;
  readonly encryptionKeyAccepted?: string | undefined;
}

export type CompleteConfig = Config & ServerSecrets & {
  readonly databaseUrl: string;
  /** Of marks (HMAC), as the database has it; it stays when ENCRYPTION_KEY is replaced. Absent: derived from that one. */
  readonly markKey?: Buffer | undefined;
};

/** Nest injection token of the {@link CompleteConfig}. */
export const CONFIG = Symbol('CONFIG');

/** One line for each variable that is wrong. Values are never repeated. */
export class ConfigError extends StartRefused {
  override readonly name = 'ConfigError';
}

/**
 * Reads and checks the environment. An empty variable counts as unset; a secret may instead stand in the file that
 * `<NAME>_FILE` names.
 * @throws ConfigError naming every wrong variable
 */
export function loadConfig(env: NodeJS.ProcessEnv): Config {
  const problems: string[] = [];
  const parsed = environmentSchema.safeParse(readValues(env, problems));
  const firstOf = new Map((parsed.error?.issues ?? []).toReversed().map((issue) => [issue.path.join('.'), issue.message]));
  for (const [name, message] of [...firstOf].toReversed()) problems.push(`${name}: ${message}`);
  if (parsed.success) problems.push(...crossChecks(parsed.data));
  const modelProviders = parsed.success ? readModelProviders(parsed.data, env, problems) : [];
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems.join('\n'));
  return fromEnvironment(parsed.data, modelProviders);
}

/** Joins the secrets and the database's address to the configuration: what the server is built from. */
export function completeConfig(config: Config, completion: ServerSecrets & { readonly databaseUrl: string }): CompleteConfig {
  return { ...config, ...completion };
}

/**
 * The secrets as the environment gives them, for a server on a database of the operator's.
 * @throws ConfigError when one is missing: made ones would differ from replica to replica
 */
export function givenSecrets(config: Config): ServerSecrets {
  const { jwtSecret, encryptionKey, auditSigningKey, jwtSecretAccepted, encryptionKeyAccepted } = config;
  if (jwtSecret && encryptionKey && auditSigningKey) {
    return { jwtSecret, encryptionKey, auditSigningKey, jwtSecretAccepted, encryptionKeyAccepted };
  }
  const wanted = { JWT_SECRET: jwtSecret, ENCRYPTION_KEY: encryptionKey, AUDIT_SIGNING_KEY: auditSigningKey };
  const missing = Object.entries(wanted).filter(([, value]) => !value).map(([name]) => name);
  throw new ConfigError(
    `${missing.join(', ')}: must be set when DATABASE_URL is. \`node bin/countersign.mjs secrets\` prints a fresh set.`,
  );
}

function readValues(env: NodeJS.ProcessEnv, problems: string[]): Partial<Record<VariableName, string>> {
  const values: Partial<Record<VariableName, string>> = {};
  for (const [key, type] of Object.entries(environmentSchema.shape)) {
    const name = key as VariableName;
    const direct = env[name]?.trim() || undefined;
    const file = docOf(type).secret ? env[`${name}_FILE`]?.trim() || undefined : undefined;
    if (direct !== undefined && file !== undefined) problems.push(`${name}: is set, and ${name}_FILE too; set one of them`);
    else if (direct !== undefined) values[name] = direct;
    else if (file !== undefined) {
      const content = readSecret(`${name}_FILE`, file, problems);
      if (content !== undefined) values[name] = content;
    }
  }
  return values;
}

function readSecret(name: string, file: string, problems: string[]): string | undefined {
  try {
    const content = readFileSync(file, 'utf8').trim();
    if (content !== '') return content;
    problems.push(`${name}: the file is empty`);
  } catch (error) {
    problems.push(`${name}: cannot read the file (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  }
  return undefined;
}

function fromEnvironment(environment: Environment, modelProviders: readonly ModelProvider[]): Config {
  const { RUNTIME_FALLBACK: fallback, LLM_PROVIDERS_FILE: _, ...rest } = environment;
  const production = rest.NODE_ENV === 'production';
  const embedded = rest.DATABASE_URL === undefined;
  const members = Object.fromEntries(Object.entries(rest).map(([name, value]) => [camelCase(name), value]));
  const appUrl = rest.APP_URL ?? `http://localhost:${rest.PORT}`;
  const dataDir = resolve(checkoutRoot(), rest.DATA_DIR ?? '.countersign');
  return Object.freeze({
    ...(members as unknown as CamelCased<Omit<Environment, 'RUNTIME_FALLBACK' | 'LLM_PROVIDERS_FILE'>>),
    modelProviders,
    production,
    embedded,
    host: rest.HOST ?? (production ? '0.0.0.0' : '127.0.0.1'),
    appUrl,
    oidcRedirectUri: rest.OIDC_REDIRECT_URI ?? `${appUrl}/api/v1/auth/callback`,
    oidcAudience: rest.OIDC_AUDIENCE ?? rest.OIDC_CLIENT_ID,
    dataDir,
    auditAnchors: anchorsOf(rest.AUDIT_ANCHORS, dataDir),
    logLevel: rest.LOG_LEVEL ?? (embedded ? 'warn' : 'info'),
    shutdownDelay: rest.SHUTDOWN_DELAY ?? (embedded ? 0 : 5),
    runtimeFallback: fallback === 'true' ? 'webhook' : fallback === 'false' ? undefined : fallback,
  });
}

function anchorsOf(named: readonly string[] | undefined, dataDir: string): readonly string[] {
  if (!named?.length) return [`file:${join(dataDir, 'anchors')}`];
  return named.filter((name) => name !== NO_ANCHOR);
}

const camelCase = (name: string) => name.toLowerCase().replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
