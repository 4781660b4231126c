import { type Session, sessionClient, type SessionClient } from './session-client.js';

/**
 * Settings of every connection, the pool's included. Just-in-time compilation is off: statements here are short, and before PostgreSQL 18 a
 * planner switch (`enable_seqscan = off`) adds 10^10 to the cost of a plan, so that each of them would be compiled, for up to a second.
 */
export const UNLIMITED_SESSION: Session = { timezone: 'UTC', jit: 'off' };

/**
 * With the limits of calls. A frozen replica's transaction ends by the idle limit, so that its locks
 * go; the lock limit stands above it, so that whoever waits outlives it; the statement limit stands above both.
 */
export const SESSION: Session = {
  idle_in_transaction_session_timeout: '3s', lock_timeout: '4s', statement_timeout: '5s', ...UNLIMITED_SESSION,
};

const CONNECT_TIMEOUT_MS = 5_000;

export interface ClientOptions {
  readonly url: string;
  /** As `pg_stat_activity` shows it. */
  readonly name: string;
  /** Default: without limits. */
  readonly session?: Session;
  /** How long to wait for the connection, in milliseconds. Default: 5,000. */
  readonly connectTimeoutMs?: number;
  /** How long to wait for an answer, in milliseconds. Default: as long as it takes. */
  readonly answerTimeoutMs?: number;
}

/** A connection beside the pool, not connected yet. */
export function newClient(options: ClientOptions): SessionClient {
  const { url, name, session = UNLIMITED_SESSION, connectTimeoutMs = CONNECT_TIMEOUT_MS, answerTimeoutMs } = options;
  return new (sessionClient(session))({
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    ...(answerTimeoutMs === undefined ? {} : { query_timeout: answerTimeoutMs }),
  });
}
