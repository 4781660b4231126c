/** What keeps a call from the database for a while. A closed list: each has its sentence in answers and a runbook of its name. */
export type DatabaseFault =
  | 'connections-used-up' | 'pool-used-up' | 'sign-in-refused' | 'unreachable'
  | 'disk-full' | 'read-only' | 'right-refused' | 'out-of-memory' | 'lock-held' | 'too-slow' | 'cannot-write';

/** What callers and operators read. Runbooks: docs/runbooks.md, a section for each name. */
export const FAULT_DETAILS: Readonly<Record<DatabaseFault, string>> = {
  'connections-used-up': 'The database takes no more connections.',
  'pool-used-up': "All of this server's connections to the database are in use.",
  'sign-in-refused': 'The database does not let this server in.',
  unreachable: 'The database cannot be reached, or has ended the connection.',
  'disk-full': 'The database cannot write: its disk is full.',
  'read-only': 'The database cannot write: it is read-only.',
  'right-refused': 'The database cannot write: it refuses this server a right.',
  'out-of-memory': 'The database has no memory left.',
  'lock-held': 'Somebody holds a lock in the database for too long.',
  'too-slow': 'The database takes too long for a statement, or somebody has cancelled it.',
  'cannot-write': 'The database cannot write.',
};

interface Signs {
  readonly fault: DatabaseFault;
  /** Codes of the system and of PostgreSQL (appendix A). */
  readonly codes: RegExp;
  /** pg, its pool and TypeORM put these in words only. */
  readonly words?: RegExp;
}

/** The connection failed, or could not be made. */
const AWAY: readonly Signs[] = [
  { fault: 'connections-used-up', codes: /^53300$/ },
  { fault: 'pool-used-up', codes: /^$/, words: /timeout exceeded when trying to connect/ },
  // It refuses us altogether: takes no connections, is gone, or no longer knows our name.
  { fault: 'sign-in-refused', codes: /^(28000|28P01|3D000|55000)$/ },
  {
    fault: 'unreachable',
    // 25P03: it ended our transaction because we had been silent in it for too long: this process was starved, or frozen.
    codes: /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|57P0[123]|25P03|08[0-9A-Z]{3})$/,
    // A runner whose connection the database ended counts as released.
    words: /Connection terminated|Query read timeout|encountered a connection error|runner already released/,
  },
];

/** The database is there and cannot do this now. */
const BUSY: readonly Signs[] = [
  { fault: 'disk-full', codes: /^53100$/ },
  // Read-only by a setting, or a standby.
  { fault: 'read-only', codes: /^25006$/ },
  // The right to write the log was withdrawn. Nothing runs that cannot be recorded.
  { fault: 'right-refused', codes: /^42501$/ },
  { fault: 'out-of-memory', codes: /^(53000|53200)$/ },
  // Waited too long for it, or two transactions were in each other's way.
  { fault: 'lock-held', codes: /^(55P03|40P01|40001)$/ },
  { fault: 'too-slow', codes: /^57014$/ },
];

/** Which fault an error of the driver shows, and the code that says so; undefined where asking again would not help. */
export function faultOf(error: unknown): { readonly fault: DatabaseFault; readonly code?: string } | undefined {
  for (const signs of [...AWAY, ...BUSY]) {
    const shown = shownBy(error, signs);
    if (shown !== undefined) return { fault: signs.fault, ...shown };
  }
  return undefined;
}

/** Whether an error means that the connection to the database failed or could not be made. */
export function isConnectionError(error: unknown): boolean {
  return AWAY.some((signs) => shownBy(error, signs) !== undefined);
}

function shownBy(error: unknown, { codes, words }: Signs): { code?: string } | undefined {
  let shown: { code?: string } | undefined;
  within(error, ({ code, message }) => {
    if (typeof code === 'string' && codes.test(code)) shown = { code };
    else if (typeof message === 'string' && words?.test(message) === true) shown = {};
    return shown !== undefined;
  });
  return shown;
}

export interface ErrorParts {
  code?: unknown;
  message?: unknown;
  constraint?: unknown;
  driverError?: unknown;
  cause?: unknown;
  errors?: unknown;
}

/** Asks an error and what it wraps: TypeORM's driver error, causes, and the attempts of a connection to several addresses. */
export function within(error: unknown, holds: (parts: ErrorParts) => boolean, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > 5) return false;
  const parts = error as ErrorParts;
  if (holds(parts)) return true;
  const inner = [parts.driverError, parts.cause, ...(Array.isArray(parts.errors) ? (parts.errors as unknown[]) : [])];
  return inner.some((wrapped) => within(wrapped, holds, depth + 1));
}
