import { setTimeout as pause } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { StartRefused } from '../config/start-refused.js';
import { isConnectionError } from '../http/reply/failure.js';
import { withoutCredentials } from '../logging/logger.js';

/** How long a start waits for its database. */
const PATIENCE_MS = 30_000;
const TRY_AGAIN_MS = 250;
/** What the database itself refuses: a wrong password or user, a database that it does not have. Waiting changes nothing. */
const REFUSED = /^(28...|3D000|55000)$/;
/** Codes of Node.js and OpenSSL. */
const NOT_BELIEVED = /CERT|^UNABLE_TO_(GET|VERIFY)/;
const BELIEVED_BY = ': its certificate is not believed. sslrootcert names the file of the authority that has signed it, and the host has '
  + 'to be a name in it (docs/operations.md#encryption)';

/**
 * Connects at a start. A database may start beside its servers, and on a busy machine a connection may take longer than a call would
 * wait for one: so a connection that fails is tried again for 30 s.
 *
 * @param say called once, when the database has to be waited for
 * @throws StartRefused
 */
export async function connected(
  make: () => DataSource, say: (line: string) => void, patienceMs = PATIENCE_MS,
): Promise<DataSource> {
  const deadline = performance.now() + patienceMs;
  for (let isFirst = true; ; isFirst = false) {
    const error = await made(make);
    if (!(error instanceof Error)) return error;
    const reason = `the database cannot be reached (${saidBy(error)})`;
    const isFinal = !isConnectionError(error) || REFUSED.test((error as { code?: string }).code ?? '');
    const hint = NOT_BELIEVED.test((error as { code?: string }).code ?? '') ? BELIEVED_BY : '';
    if (isFinal || performance.now() >= deadline) throw new StartRefused(`DATABASE_URL: ${reason}${hint}`);
    if (isFirst) say(`${reason}: the start waits for it, up to ${Math.round(patienceMs / 1_000)} s`);
    await pause(TRY_AGAIN_MS);
  }
}

/** Its code, and what the driver or a pooler says. */
function saidBy(error: Error): string {
  const { code } = error as { code?: string };
  const message = withoutCredentials(error.message);
  return [code, message].filter(Boolean).join(': ');
}

/** One that could not connect is not used again. */
async function made(make: () => DataSource): Promise<DataSource | Error> {
  try {
    return await make().initialize();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
