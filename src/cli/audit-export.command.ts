import { Command, Option } from 'commander';
import { EXPORT_FORMATS, type ExportFormat } from '../domain/audit/export/seal.js';
import { StartRefused } from '../platform/config/start-refused.js';
import { parseDate, parseTimestamp } from '../platform/http/timestamps.js';
import { withEnvironmentFile } from '../start/environment-file.js';
import { databaseOf } from './database-address.js';
import { ExportProgress, writeExport } from './export-file.js';
import { reason } from './reason.js';
import { signingKeyOf } from './signing-key-of.js';

const WRITTEN = 0;
const REFUSED = 1;
const NO_CONNECTION = 2;

const NO_DATABASE = 'no server and no database: give --url with --key, or --database-url or DATABASE_URL';
const NO_SIGNING_KEY =
  'an export from the database has to be signed: give AUDIT_SIGNING_KEY or AUDIT_SIGNING_KEY_FILE, or export from a server with --url';
const NO_KEY = '--url needs a key that may export: give --key or COUNTERSIGN_KEY';

interface ExportOptions {
  out: string;
  url?: string;
  key?: string;
  databaseUrl?: string;
  organization?: string;
  from?: string;
  to?: string;
  agent?: string;
  format?: ExportFormat;
  since?: string;
}

/** `countersign audit export`. */
export function exportCommand(): Command {
  return new Command('export')
    .description('Writes the log to a file that can be verified without a server. Exit codes: 0 written, 1 refused, 2 could not read.')
    .requiredOption('--out <file>', 'file to write; compressed when its name ends in .gz')
    .option('--url <url>', 'server to export from')
    .option('--key <key>', 'credential for it; default: COUNTERSIGN_KEY')
    .option('--database-url <url>', 'database to export from; default: DATABASE_URL, else the running embedded database of DATA_DIR')
    .option('--organization <id>', 'only this organization')
    .option('--from <time>', 'not before: a date, or a date and time with its zone')
    .option('--to <time>', 'not after')
    .option('--agent <id>', "only this agent's chain")
    .addOption(new Option('--format <format>', 'default: by the name of the file').choices(EXPORT_FORMATS))
    .option('--since <size>', 'show that the tree goes on from an older checkpoint of this size')
    .action(async (options: ExportOptions) => {
      process.exitCode = await run(options, withEnvironmentFile(process.env));
    });
}

/** What was asked for, checked. */
interface Wanted {
  readonly format: ExportFormat;
  readonly organizationId?: string;
  readonly from?: string;
  readonly to?: string;
  readonly agentId?: string;
  readonly since?: number;
}

async function run(options: ExportOptions, env: NodeJS.ProcessEnv): Promise<number> {
  const cut = new AbortController();
  const stop = () => cut.abort(new Error('interrupted; nothing was written'));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const progress = progressLine();
  const write = (texts: AsyncIterable<string>) => writeExport(options.out, texts, progress.show, cut.signal);
  try {
    const wanted = wantedBy(options);
    if (options.url !== undefined) await fromServer(options.url, options.key ?? env['COUNTERSIGN_KEY'], wanted, write, cut.signal);
    else await fromDatabase(options.databaseUrl, env, wanted, write);
  } catch (error) {
    progress.clear();
    const cause: unknown = cut.signal.aborted ? cut.signal.reason : error;
    process.stderr.write(`countersign audit export: ${reason(causeOf(cause), 'this database holds no audit log')}\n`);
    return error instanceof StartRefused ? REFUSED : NO_CONNECTION;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
  progress.clear();
  process.stdout.write(`Written to ${options.out}\n`);
  return WRITTEN;
}

function wantedBy({ out, organization, from, to, agent, format, since }: ExportOptions): Wanted {
  const byName = EXPORT_FORMATS.find((one) => out.replace(/\.gz$/, '').endsWith(`.${one}`));
  const begin = timeOf('--from', from, 'start');
  const end = timeOf('--to', to, 'end');
  if (since !== undefined && !/^[1-9]\d{0,14}$/.test(since)) throw new StartRefused('--since is the size of a checkpoint: a number');
  return {
    format: format ?? byName ?? 'jsonl',
    ...(organization === undefined ? {} : { organizationId: organization }),
    ...(begin === undefined ? {} : { from: begin }),
    ...(end === undefined ? {} : { to: end }),
    ...(agent === undefined ? {} : { agentId: agent }),
    ...(since === undefined ? {} : { since: Number(since) }),
  };
}

function timeOf(option: string, text: string | undefined, edge: 'start' | 'end'): string | undefined {
  if (text === undefined) return undefined;
  const time = parseTimestamp(text) ?? parseDate(text, edge);
  if (time === undefined) throw new StartRefused(`${option} is no time: write 2026-11-21, or 2026-11-21T09:30:00Z`);
  return time.toISOString();
}

type Write = (texts: AsyncIterable<string>) => Promise<void>;

async function fromServer(url: string, key: string | undefined, wanted: Wanted, write: Write, signal: AbortSignal): Promise<void> {
  if (key === undefined || key === '') throw new StartRefused(NO_KEY);
  const target = new URL('/api/v1/audit/export', url);
  for (const [name, value] of Object.entries(wanted)) target.searchParams.set(name, String(value));
  const response = await fetch(target, { headers: { authorization: `Bearer ${key}` }, redirect: 'error', signal });
  if (response.ok && response.body !== null) return write(textsOf(response.body));
  const { detail, title } = (await response.json().catch(() => ({}))) as { detail?: string; title?: string };
  const said = `the server answered ${response.status}: ${detail ?? title ?? response.statusText}`;
  throw response.status < 500 ? new StartRefused(said) : new Error(said);
}

async function* textsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  for await (const bytes of body) yield decoder.decode(bytes, { stream: true });
  yield decoder.decode();
}

async function fromDatabase(given: string | undefined, env: NodeJS.ProcessEnv, wanted: Wanted, write: Write): Promise<void> {
  const databaseUrl = given ?? databaseOf(env);
  if (databaseUrl === undefined) throw new StartRefused(NO_DATABASE);
  const seed = signingKeyOf(env);
  if (seed === undefined) throw new StartRefused(NO_SIGNING_KEY);
  const { exportDatabase } = await import('../modules/audit/exports/export-database.js');
  await exportDatabase({ ...wanted, databaseUrl, seed }, write);
}

/** `fetch` says only that it failed; why stands beneath. */
function causeOf(error: unknown): unknown {
  return error instanceof TypeError && error.cause !== undefined ? error.cause : error;
}

const SHOWN_EVERY_MS = 100;

/** How far it has come, on one line, while a person watches; silent in a pipe. */
function progressLine(): { show: (text: string) => void; clear: () => void } {
  const { stderr } = process;
  if (!stderr.isTTY) return { show: () => undefined, clear: () => undefined };
  const progress = new ExportProgress();
  let shown = 0;
  return {
    show: (text) => {
      const line = progress.after(text);
      if (performance.now() - shown < SHOWN_EVERY_MS) return;
      shown = performance.now();
      stderr.write(`\r\u001b[2K  ${line}`);
    },
    clear: () => void stderr.write('\r\u001b[2K'),
  };
}
