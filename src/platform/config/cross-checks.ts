import { isIP } from 'node:net';
import type { Environment } from './config.schema.js';

/** What no variable shows alone. Each problem is one line that opens with the variable to change. */
export function crossChecks(env: Environment): string[] {
  return [
    serverProblems, runtimeProblems, tokenProblems, secretProblems, auditProblems, channelProblems, providerProblems,
  ].flatMap((check) => check(env));
}

function serverProblems(env: Environment): string[] {
  const problems: string[] = [];
  if (env.HOST !== undefined && isIP(env.HOST) === 0 && !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(env.HOST)) {
    problems.push('HOST: must be an IP address or a host name');
  }
  if (env.METRICS_PORT === env.PORT) problems.push('METRICS_PORT: must differ from PORT: whoever may call need not see the metrics');
  if (env.NODE_ENV === 'production' && env.DATABASE_URL === undefined) {
    problems.push('DATABASE_URL: must be set when NODE_ENV is production; the embedded database is for trials only');
  }
  if (env.DATABASE_LISTEN_URL !== undefined && env.DATABASE_URL === undefined) {
    problems.push('DATABASE_LISTEN_URL: goes with DATABASE_URL, which is not set');
  }
  return problems;
}

function runtimeProblems(env: Environment): string[] {
  const problems: string[] = [];
  const fallback = env.RUNTIME_FALLBACK === 'true' ? 'webhook' : env.RUNTIME_FALLBACK;
  const named = [['RUNTIME_PRIMARY', env.RUNTIME_PRIMARY], ['RUNTIME_FALLBACK', fallback]] as const;
  if (fallback === env.RUNTIME_PRIMARY) problems.push('RUNTIME_FALLBACK: is the same runtime as RUNTIME_PRIMARY');
  const user = named.find(([, runtime]) => runtime === 'webhook')?.[0];
  for (const name of user ? (['RUNTIME_WEBHOOK_URL', 'WEBHOOK_SECRET'] as const) : []) {
    if (env[name] === undefined) problems.push(`${name}: must be set, since ${user} asks for webhook`);
  }
  return problems;
}

function tokenProblems(env: Environment): string[] {
  const problems: string[] = [];
  if (env.AGENT_JWT_TTL > env.AGENT_JWT_MAX) problems.push('AGENT_JWT_TTL: must not be longer than AGENT_JWT_MAX');
  if (env.AGENT_JWT_MAX > env.AGENT_SESSION_MAX) problems.push('AGENT_JWT_MAX: must not be longer than AGENT_SESSION_MAX');
  if (env.SESSION_IDLE > env.SESSION_MAX) problems.push('SESSION_IDLE: must not be longer than SESSION_MAX');
  return problems;
}

const SECRETS = [
  'JWT_SECRET', 'JWT_SECRET_ACCEPTED', 'ENCRYPTION_KEY', 'ENCRYPTION_KEY_ACCEPTED', 'AUDIT_SIGNING_KEY', 'INTERNAL_API_KEY',
  'WEBHOOK_SECRET',
] as const;

/** One leaked secret must not open what another one guards. */
function secretProblems(env: Environment): string[] {
  const problems: string[] = [];
  for (const [at, name] of SECRETS.entries()) {
    const twin = SECRETS.slice(0, at).find((other) => env[other] !== undefined && env[other] === env[name]);
    if (twin) problems.push(`${name}: must differ from ${twin}`);
  }
  return problems;
}

/** In AUDIT_ANCHORS: the operator wants none. */
export const NO_ANCHOR = 'none';

function auditProblems(env: Environment): string[] {
  const problems: string[] = [];
  if (env.AUDIT_ANCHORS?.includes(NO_ANCHOR)) {
    if (env.AUDIT_ANCHORS.length > 1) problems.push('AUDIT_ANCHORS: is none, and names anchors too');
    if (env.AUDIT_UNANCHORED_MAX_SECONDS !== undefined) {
      problems.push('AUDIT_UNANCHORED_MAX_SECONDS: is about anchors, and AUDIT_ANCHORS is none');
    }
  }
  if (env.AUDIT_RETENTION_DAYS !== undefined && env.AUDIT_ARCHIVE === undefined) {
    problems.push('AUDIT_ARCHIVE: must be set when AUDIT_RETENTION_DAYS is: what is swept is archived first');
  }
  return problems;
}

function channelProblems(env: Environment): string[] {
  const problems: string[] = [];
  if (env.SMTP_HOST !== undefined && env.SMTP_FROM === undefined) problems.push('SMTP_FROM: must be set when SMTP_HOST is');
  if (env.SMTP_USER !== undefined && env.SMTP_PASS === undefined) problems.push('SMTP_PASS: must be set when SMTP_USER is');
  if (env.SLACK_BOT_TOKEN !== undefined && env.SLACK_CHANNEL === undefined) {
    problems.push('SLACK_CHANNEL: must be set when SLACK_BOT_TOKEN is');
  }
  if (env.HITL_WEBHOOK_URL !== undefined && env.WEBHOOK_SECRET === undefined) {
    problems.push('WEBHOOK_SECRET: must be set when HITL_WEBHOOK_URL is: it signs what is posted there');
  }
  return problems;
}

const CALLBACK = '/api/v1/auth/callback';

function providerProblems(env: Environment): string[] {
  const problems: string[] = [];
  if (env.OIDC_ISSUER !== undefined && env.OIDC_CLIENT_ID === undefined) {
    problems.push('OIDC_CLIENT_ID: must be set when OIDC_ISSUER is');
  }
  if (env.OIDC_ISSUER === undefined && env.OIDC_CLIENT_ID !== undefined) {
    problems.push('OIDC_ISSUER: must be set when OIDC_CLIENT_ID is');
  }
  if (env.OIDC_ADMIN_URL !== undefined && env.OIDC_CLIENT_SECRET === undefined) {
    problems.push('OIDC_CLIENT_SECRET: must be set when OIDC_ADMIN_URL is: the server signs in there with it');
  }
  if (env.NODE_ENV === 'production') {
    for (const name of ['OIDC_ISSUER', 'OIDC_ADMIN_URL'] as const) {
      if (env[name]?.startsWith('http:')) problems.push(`${name}: must be https when NODE_ENV is production`);
    }
  }
  return [...problems, ...redirectProblems(env)];
}

/** Cookies are the host's, so people must come back to where they set out. */
function redirectProblems({ OIDC_REDIRECT_URI: redirect, APP_URL, PORT }: Environment): string[] {
  if (redirect === undefined) return [];
  const ours = APP_URL ?? `http://localhost:${PORT}`;
  if (new URL(redirect).origin !== new URL(ours).origin) return ['OIDC_REDIRECT_URI: must be on the origin of APP_URL'];
  return new URL(redirect).href === new URL(ours + CALLBACK).href ? [] : [`OIDC_REDIRECT_URI: must be APP_URL and ${CALLBACK}`];
}
