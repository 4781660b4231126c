import { describe, expect, it } from '@jest/globals';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkoutRoot } from './checkout-root.js';
import { ConfigError, completeConfig, givenSecrets, loadConfig } from './config.js';
import { warningsAbout } from './warnings.js';

const JWT = 'k7Gq2mZx9Lw4Tb8Rv1Yc6Nd3Hs5Jf0Pa';
const KEY = 'imInFBztIIgqsOY9Gg/0Zw3BUAZY5plXjWZSz+46OmM=';
const SEED = 'nWGxne/9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A=';

const PROVIDER = { OIDC_ISSUER: 'https://id.example', OIDC_CLIENT_ID: 'cs', OIDC_CLIENT_SECRET: 'x' };
const PRODUCTION = { NODE_ENV: 'production', DATABASE_URL: 'postgres://h/d', APP_URL: 'https://app.example' };

const messageOf = (env: NodeJS.ProcessEnv) => {
  try {
    loadConfig(env);
    return 'accepted';
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as Error).message;
  }
};

describe('loadConfig', () => {
  it('needs nothing for a trial', () => {
    const config = loadConfig({});
    expect(config).toMatchObject({
      port: 3000, host: '127.0.0.1', appUrl: 'http://localhost:3000', production: false, embedded: true, databasePoolSize: 10,
      agentJwtTtl: 3600, agentJwtMax: 86_400, agentRefreshWindow: 0, agentSessionMax: 30 * 86_400, hitlMaxPendingPerAgent: 1000,
      runtimePrimary: 'connector', outboundAllow: [], corsOrigins: [], trustedProxies: [], logLevel: 'warn',
      rateLimitAnonymous: 300, rateLimitPrincipal: 6000, auditCheckpointSeconds: 5, sessionIdle: 28_800, oidcJit: true,
    });
    expect(config.runtimeFallback).toBeUndefined();
    expect(config.databaseUrl).toBeUndefined();
    expect(config.dataDir).toMatch(/\/\.countersign$/);
  });

  it('counts empty as unset', () => {
    expect(loadConfig({ PORT: '', JWT_SECRET: '  ', DATABASE_URL: '' })).toMatchObject({ port: 3000, embedded: true });
  });

  it('reads what is given', () => {
    const config = loadConfig({
      NODE_ENV: 'production', DATABASE_URL: 'postgres://u:p@db/x', PORT: '8080', AGENT_JWT_TTL: '15m', RATE_LIMIT_ANONYMOUS: '0',
      CORS_ORIGINS: 'https://a.example, http://b.example:81', TRUSTED_PROXIES: '10.0.0.0/8,::1', RUNTIME_FALLBACK: 'true',
      RUNTIME_WEBHOOK_URL: 'https://run.example/x', WEBHOOK_SECRET: `whsec_${KEY}`, APP_URL: 'https://app.example/base/',
      OUTBOUND_ALLOW: '10.1.0.0/16,billing.internal:8443,localhost',
    });
    expect(config).toMatchObject({
      production: true, embedded: false, host: '0.0.0.0', port: 8080, agentJwtTtl: 900, rateLimitAnonymous: 0, logLevel: 'info',
      corsOrigins: ['https://a.example', 'http://b.example:81'], trustedProxies: ['10.0.0.0/8', '::1'],
      runtimeFallback: 'webhook', appUrl: 'https://app.example/base',
      outboundAllow: ['10.1.0.0/16', 'billing.internal:8443', 'localhost'],
    });
    const exact = 14 / 86_400;
    expect(loadConfig({ AUDIT_RETENTION_DAYS: String(exact), AUDIT_ARCHIVE: '/archive' }).auditRetentionDays).toBe(exact);
    expect(loadConfig({ RUNTIME_FALLBACK: 'false' }).runtimeFallback).toBeUndefined();
  });

  it('reads where traces go', () => {
    const given = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/', OTEL_TRACES_SAMPLER_ARG: '0.25' };
    expect(loadConfig({ ...given, OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20YTpi, x-team = a' })).toMatchObject({
      otelExporterOtlpEndpoint: 'http://collector:4318', otelTracesSamplerArg: 0.25, otelServiceName: 'countersign',
      otelExporterOtlpHeaders: { authorization: 'Basic YTpi', 'x-team': 'a' },
    });
    for (const bad of ['no pair', 'a=%zz', 'a=%0d%0a', 'a=', '=b', 'a b=c']) {
      expect(messageOf({ OTEL_EXPORTER_OTLP_HEADERS: bad })).toMatch(/^OTEL_EXPORTER_OTLP_HEADERS: must be headers such as/);
    }
    for (const bad of ['2', '1.1', '-1', 'x']) expect(messageOf({ OTEL_TRACES_SAMPLER_ARG: bad })).toMatch(/from 0 to 1/);
  });

  it('comes back from the provider to where people are, and is who its tokens are for', () => {
    expect(loadConfig({})).toMatchObject({
      oidcRedirectUri: 'http://localhost:3000/api/v1/auth/callback', oidcAudience: undefined,
      oidcScopes: ['openid', 'profile', 'email', 'offline_access'],
    });
    const given = { ...PROVIDER, APP_URL: 'https://app.example/base/', OIDC_SCOPES: ' openid  countersign openid ' };
    expect(loadConfig(given)).toMatchObject({
      oidcRedirectUri: 'https://app.example/base/api/v1/auth/callback', oidcAudience: 'cs', oidcScopes: ['openid', 'countersign'],
    });
    const uri = 'https://app.example/base/api/v1/auth/callback';
    expect(loadConfig({ ...given, OIDC_REDIRECT_URI: uri, OIDC_AUDIENCE: 'api' }))
      .toMatchObject({ oidcRedirectUri: uri, oidcAudience: 'api' });
  });

  it.each<[NodeJS.ProcessEnv, RegExp[]]>([
    [{}, []],
    [{ ...PRODUCTION, APP_URL: 'http://app.example', OIDC_DEFAULT_ROLE: 'owner' }, []],
    [{ ...PROVIDER, ...PRODUCTION }, []],
    [{ ...PROVIDER, APP_URL: 'http://app.example' }, []],
    [{ ...PROVIDER, ...PRODUCTION, APP_URL: 'http://app.example' }, [/^APP_URL: is not https/]],
    [{ ...PROVIDER, OIDC_DEFAULT_ROLE: 'owner' }, [/^OIDC_DEFAULT_ROLE: is owner/]],
    [{ ...PROVIDER, OIDC_DEFAULT_ROLE: 'owner', OIDC_JIT: 'false' }, []],
    [{ ...PROVIDER, OIDC_DEFAULT_ROLE: 'admin' }, []],
  ])('warns of what is mostly a mistake (%#)', (env, wanted) => {
    expect(warningsAbout(loadConfig(env))).toEqual(wanted.map((line) => expect.stringMatching(line)));
  });

  it('takes a relative data directory for one of the checkout, from wherever it is started', () => {
    expect(loadConfig({ DATA_DIR: 'data' }).dataDir).toBe(join(checkoutRoot(), 'data'));
    expect(loadConfig({}).dataDir).toBe(join(checkoutRoot(), '.countersign'));
  });

  it('anchors beside its data unless configured otherwise', () => {
    const beside = ['file:/data/anchors'];
    expect(loadConfig({ DATA_DIR: '/data' }).auditAnchors).toEqual(beside);
    expect(loadConfig({ DATA_DIR: '/data', AUDIT_ANCHORS: ' , ' }).auditAnchors).toEqual(beside);
    const given = 'file:/a, witness:https://w.example/x';
    expect(loadConfig({ AUDIT_ANCHORS: given }).auditAnchors).toEqual(['file:/a', 'witness:https://w.example/x']);
  });

  const refused: [name: string, env: NodeJS.ProcessEnv, message: RegExp][] = [
    ['a port of letters', { PORT: 'http' }, /^PORT: must be a whole number from 1 to 65535$/],
    ['port 0', { PORT: '0' }, /^PORT: /],
    ['metrics where the API is', { PORT: '9464', METRICS_PORT: '9464' }, /^METRICS_PORT: must differ from PORT/],
    ['a port too high', { PORT: '65536' }, /^PORT: /],
    ['a port with a fraction', { PORT: '3000.5' }, /^PORT: /],
    ['an impossible host', { HOST: 'not a host' }, /^HOST: must be an IP address or a host name$/],
    ['a short JWT secret', { JWT_SECRET: JWT.slice(1) }, /^JWT_SECRET: must be at least 32 characters long$/],
    ['a known JWT secret', { JWT_SECRET: 'change-me-change-me-now-please-0123' }, /^JWT_SECRET: contains a well-known default/],
    ['a tutorial\'s JWT secret', { JWT_SECRET: 'your-256-bit-secret-your-secret-key' }, /^JWT_SECRET: contains a well-known/],
    ['one character', { JWT_SECRET: 'a'.repeat(40) }, /^JWT_SECRET: is trivially repetitive/],
    ['a repeated unit', { JWT_SECRET: '0f9Qx7Lk2pZs'.repeat(4).slice(0, 40) }, /^JWT_SECRET: is trivially repetitive/],
    ['a counted secret', { JWT_SECRET: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_`abcdef' }, /^JWT_SECRET: is a plain sequence/],
    ['an encryption key that is too short', { ENCRYPTION_KEY: 'c2hvcnQ=' }, /^ENCRYPTION_KEY: must be 32 bytes in base64/],
    ['an encryption key in hex', { ENCRYPTION_KEY: 'ab'.repeat(32) }, /^ENCRYPTION_KEY: must be 32 bytes in base64/],
    ['an encryption key of zeros', { ENCRYPTION_KEY: Buffer.alloc(32).toString('base64') }, /^ENCRYPTION_KEY: is trivially/],
    ['an encryption key of text', { ENCRYPTION_KEY: Buffer.from('change-me-please-0123456789abcde').toString('base64') },
      /^ENCRYPTION_KEY: is not random/],
    ['a counted encryption key', { ENCRYPTION_KEY: Buffer.from([...Array(32).keys()]).toString('base64') },
      /^ENCRYPTION_KEY: is not random/],
    ['a bad signing key', { AUDIT_SIGNING_KEY: 'x' }, /^AUDIT_SIGNING_KEY: must be 32 bytes in base64/],
    ['two keys alike', { ENCRYPTION_KEY: KEY, AUDIT_SIGNING_KEY: KEY }, /^AUDIT_SIGNING_KEY: must differ from ENCRYPTION_KEY$/],
    ['a root key of another form', { ROOT_API_KEY: 'svc_root_123' }, /^ROOT_API_KEY: must be svc_root_ followed by 64/],
    ['a root key of zeros', { ROOT_API_KEY: `svc_root_${'0'.repeat(64)}` }, /^ROOT_API_KEY: is trivially/],
    ['a short internal key', { INTERNAL_API_KEY: 'abc' }, /^INTERNAL_API_KEY: must be at least 32/],
    ['a duration with another unit', { AGENT_JWT_TTL: '1w' }, /^AGENT_JWT_TTL: must be a length of time/],
    ['a negative duration', { AGENT_JWT_MAX: '-1' }, /^AGENT_JWT_MAX: must be a length of time/],
    ['a lifetime over its maximum', { AGENT_JWT_TTL: '2h', AGENT_JWT_MAX: '1h' },
      /^AGENT_JWT_TTL: must not be longer than AGENT_JWT_MAX$/],
    ['another kind of database', { DATABASE_URL: 'mysql://h/d' }, /^DATABASE_URL: must be an address such as postgres:/],
    ['a listen address without a database', { DATABASE_LISTEN_URL: 'postgres://h/d' }, /^DATABASE_LISTEN_URL: goes with/],
    ['production without a database', { NODE_ENV: 'production' }, /^DATABASE_URL: must be set when NODE_ENV is production/],
    ['an unknown NODE_ENV', { NODE_ENV: 'prod' }, /^NODE_ENV: must be one of development, test, production$/],
    ['an unknown log level', { LOG_LEVEL: 'loud' }, /^LOG_LEVEL: must be one of fatal/],
    ['an origin with a path', { CORS_ORIGINS: 'https://a.example/x' }, /^CORS_ORIGINS: must be origins/],
    ['any origin', { CORS_ORIGINS: '*' }, /^CORS_ORIGINS: must be origins/],
    ['a proxy by name', { TRUSTED_PROXIES: 'proxy' }, /^TRUSTED_PROXIES: must be IP addresses/],
    ['a network too narrow', { TRUSTED_PROXIES: '10.0.0.0/33' }, /^TRUSTED_PROXIES: /],
    ['an outbound wildcard', { OUTBOUND_ALLOW: '*.internal' }, /^OUTBOUND_ALLOW: /],
    ['the node runtime as its own fallback', { RUNTIME_PRIMARY: 'node', RUNTIME_FALLBACK: 'node' }, /^RUNTIME_FALLBACK: is the same/],
    ['a fallback to the same', { RUNTIME_FALLBACK: 'connector' }, /^RUNTIME_FALLBACK: is the same runtime as RUNTIME_PRIMARY$/],
    ['a webhook runtime without an address', { RUNTIME_FALLBACK: 'true', WEBHOOK_SECRET: JWT }, /^RUNTIME_WEBHOOK_URL: must/],
    ['a webhook runtime without a secret', { RUNTIME_PRIMARY: 'webhook', RUNTIME_WEBHOOK_URL: 'https://a.example' },
      /^WEBHOOK_SECRET: must be set, since RUNTIME_PRIMARY asks for webhook$/],
    ['credentials in an address', { RUNTIME_WEBHOOK_URL: 'https://u:p@a.example' }, /^RUNTIME_WEBHOOK_URL: must be an http/],
    ['another scheme', { APP_URL: 'ftp://a.example' }, /^APP_URL: must be an http/],
    ['a weak webhook secret', { WEBHOOK_SECRET: 'whsec_c2hvcnQ=' }, /^WEBHOOK_SECRET: must be whsec_ followed by 24 to 64 bytes/],
    ['a mail server without a sender', { SMTP_HOST: 'mail' }, /^SMTP_FROM: must be set when SMTP_HOST is$/],
    ['a Slack bot without a channel', { SLACK_BOT_TOKEN: 'xoxb-1' }, /^SLACK_CHANNEL: must be set when SLACK_BOT_TOKEN is$/],
    ['a webhook that nothing signs', { HITL_WEBHOOK_URL: 'https://a.example' }, /^WEBHOOK_SECRET: must be set when HITL_WEBHOOK_URL is/],
    ['a provider without a client', { OIDC_ISSUER: 'https://id.example' }, /^OIDC_CLIENT_ID: must be set/],
    ['a client without a provider', { OIDC_CLIENT_ID: 'cs' }, /^OIDC_ISSUER: must be set when OIDC_CLIENT_ID is$/],
    ['scopes without openid', { OIDC_SCOPES: 'profile email' }, /^OIDC_SCOPES: must be scopes separated by spaces, openid among/],
    ['a scope of other characters', { OIDC_SCOPES: 'openid "x"' }, /^OIDC_SCOPES: /],
    ['a provider in clear in production', { ...PROVIDER, OIDC_ISSUER: 'http://id.example', ...PRODUCTION },
      /^OIDC_ISSUER: must be https when NODE_ENV is production$/],
    ['accounts deleted in clear in production', { ...PROVIDER, OIDC_ADMIN_URL: 'http://id.example/admin', ...PRODUCTION },
      /^OIDC_ADMIN_URL: must be https when NODE_ENV is production$/],
    ['accounts deleted without a secret', { ...PROVIDER, OIDC_CLIENT_SECRET: '', OIDC_ADMIN_URL: 'https://id.example/admin' },
      /^OIDC_CLIENT_SECRET: must be set when OIDC_ADMIN_URL is/],
    ['a way back to another host', { ...PROVIDER, OIDC_REDIRECT_URI: 'https://other.example/api/v1/auth/callback' },
      /^OIDC_REDIRECT_URI: must be on the origin of APP_URL$/],
    ['a way back to another port', { OIDC_REDIRECT_URI: 'http://localhost:3001/api/v1/auth/callback' }, /^OIDC_REDIRECT_URI: must be on/],
    ['a way back to another path', { OIDC_REDIRECT_URI: 'http://localhost:3000/callback' },
      /^OIDC_REDIRECT_URI: must be APP_URL and \/api\/v1\/auth\/callback$/],
    ['a way back with a query', { OIDC_REDIRECT_URI: 'http://localhost:3000/api/v1/auth/callback?x=1' }, /^OIDC_REDIRECT_URI: must be/],
    ['an internal key that cannot be sent', { INTERNAL_API_KEY: `${JWT} with spaces` }, /^INTERNAL_API_KEY: may have letters, digits/],
    ['an internal key like a root key', { INTERNAL_API_KEY: `svc_root_${JWT}` }, /^INTERNAL_API_KEY: must not begin with svc_/],
    ['an idle time over the longest session', { SESSION_IDLE: '8d' }, /^SESSION_IDLE: must not be longer than SESSION_MAX$/],
    ['no retention at all', { AUDIT_RETENTION_DAYS: '0' }, /^AUDIT_RETENTION_DAYS: must be a number of days from 0.000001 to 36500$/],
    ['a retention too short', { AUDIT_RETENTION_DAYS: '0.00000099999' }, /^AUDIT_RETENTION_DAYS: must be a number of days from 0.000001/],
    ['a retention that is no number', { AUDIT_RETENTION_DAYS: '1e3' }, /^AUDIT_RETENTION_DAYS: must be a number of days/],
    ['retention without an archive', { AUDIT_RETENTION_DAYS: '365' }, /^AUDIT_ARCHIVE: must be set when AUDIT_RETENTION_DAYS is/],
    ['an anchor of another kind', { AUDIT_ANCHORS: 's3:bucket' }, /^AUDIT_ANCHORS: must be anchors/],
    ['a flag of another word', { OIDC_JIT: 'yes' }, /^OIDC_JIT: must be true or false$/],
    ['a secret twice', { JWT_SECRET: JWT, JWT_SECRET_FILE: '/dev/null' }, /^JWT_SECRET: is set, and JWT_SECRET_FILE too/],
    ['a secret\'s file that is not there', { JWT_SECRET_FILE: '/nonexistent' },
      /^JWT_SECRET_FILE: cannot read the file \(ENOENT\)$/],
    ['a secret\'s file that is empty', { JWT_SECRET_FILE: '/dev/null' }, /^JWT_SECRET_FILE: the file is empty$/],
  ];
  it.each(refused)('refuses %s', (_name, env, message) => {
    expect(messageOf(env)).toMatch(message);
    expect(messageOf(env)).not.toContain('\n');
  });

  it('names every wrong variable, and no value', () => {
    const message = messageOf({ PORT: 'zzport', JWT_SECRET: 'zzsecret', DATABASE_URL: 'zz://user:zzpassword@h/d' });
    expect(message.split('\n').map((line) => line.split(':')[0]).sort()).toEqual(['DATABASE_URL', 'JWT_SECRET', 'PORT']);
    expect(message).not.toContain('zz');
  });

  it('takes a secret from its file, without the closing line break', () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-config-'));
    const file = join(folder, 'jwt');
    writeFileSync(file, `${JWT}\n`);
    chmodSync(file, 0o600);
    expect(loadConfig({ JWT_SECRET_FILE: file }).jwtSecret).toBe(JWT);
    rmSync(folder, { recursive: true });
  });
});

describe('givenSecrets', () => {
  it('names what a server on its own database lacks, and how to make it', () => {
    const config = loadConfig({ DATABASE_URL: 'postgres://h/d', ENCRYPTION_KEY: KEY });
    expect(() => givenSecrets(config)).toThrow(/^JWT_SECRET, AUDIT_SIGNING_KEY: must be set.*countersign.mjs secrets/);
  });

  it('gives the three, and completes the configuration', () => {
    const config = loadConfig({ DATABASE_URL: 'postgres://h/d', JWT_SECRET: JWT, ENCRYPTION_KEY: KEY, AUDIT_SIGNING_KEY: SEED });
    const complete = completeConfig(config, { ...givenSecrets(config), databaseUrl: 'postgres://h/d' });
    expect(complete).toMatchObject({ jwtSecret: JWT, encryptionKey: KEY, auditSigningKey: SEED, port: 3000 });
    expect(complete.databaseUrl).toBe('postgres://h/d');
  });
});
