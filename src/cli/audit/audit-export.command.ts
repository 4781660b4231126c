import { Command, Option } from 'commander';
import { EXPORT_FORMATS, type ExportFormat } from '../../domain/audit/export/sealed-export.js';
import { StartRefused } from '../../platform/config/start-refused.js';
import { parseDate, parseTimestamp } from '../../platform/http/fields/timestamps.js';
import { withEnvironmentFile } from '../../start/environment-file.js';
import { ExportProgress, writeExport } from '../verification/export-file.js';
import { LOCATION_ORDER, locationOf, describeLocation, type ServerLocation } from '../verification/log-location.js';
import { keyFileOption, keyOption } from '../given-key.js';
import { failureReason } from '../failure-reason.js';
import { serverExport, ServerRefused } from '../verification/server-export.js';
import { signingKeyOf } from '../signing-key.js';
import { EXIT, NO_LOG, progressLine, commandOutput } from '../command-output.js';

const { say, refuse } = commandOutput('audit export');

const NO_SIGNING_KEY =
  'an export from the database has to be signed: give AUDIT_SIGNING_KEY or AUDIT_SIGNING_KEY_FILE, or export from a server with --url';

interface ExportOptions {
  out: string;
  url?: string;
  key?: string;
  keyFile?: string;
  databaseUrl?: string;
  organization?: string;
  from?: string;
  to?: string;
  agent?: string;
  format?: ExportFormat;
  since?: string;
  platformSince?: string;
  json?: boolean;
}

/** `countersign audit export`. */
export function exportCommand(): Command {
  return new Command('export')
    .description('Writes the log to a file that can be verified without a server. Exit codes: 0 written, 1 refused, 2 could not read.')
    .requiredOption('--out <file>', 'file to write; compressed when its name ends in .gz')
    .addOption(new Option('--url <url>', 'server to export from').conflicts('databaseUrl'))
    .addOption(keyOption())
    .addOption(keyFileOption())
    .option('--database-url <url>', 'database to export from')
    .option('--organization <id>', 'only this organization')
    .option('--from <time>', 'not before: a date, or a date and time with its zone')
    .option('--to <time>', 'not after')
    .option('--agent <id>', "only this agent's chain")
    .addOption(new Option('--format <format>', 'default: by the name of the file').choices(EXPORT_FORMATS))
    .option('--since <size>', 'show that the tree goes on from an older checkpoint of this size')
    .option('--platform-since <size>', "show that the platform's tree goes on from an older checkpoint of this size")
    .option('--json', 'print one JSON object')
    .addHelpText('after', LOCATION_ORDER)
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
  readonly platformSince?: number;
}

async function run(options: ExportOptions, env: NodeJS.ProcessEnv): Promise<number> {
  const cut = new AbortController();
  const stop = () => cut.abort(new Error('interrupted; nothing was written'));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const [progress, lines] = [progressLine(), new ExportProgress()];
  const write = (texts: AsyncIterable<string>) =>
    writeExport(options.out, texts, (text) => progress.show(lines.after(text)), cut.signal).finally(progress.clear);
  try {
    const wanted = wantedBy(options);
    const location = locationOf(options, env);
    if (location.kind === 'file') throw new Error('an export is of a server or of a database');
    say(describeLocation(location));
    if (location.kind === 'server') await fromServer(location, wanted, write, cut.signal);
    else await fromDatabase(location.url, env, wanted, write);
  } catch (error) {
    const isRefused = error instanceof StartRefused || error instanceof ServerRefused;
    return refuse(failureReason(cut.signal.aborted ? cut.signal.reason : error, NO_LOG), isRefused ? EXIT.REFUSED : EXIT.NO_CONNECTION);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
  }
  process.stdout.write(options.json ? `${JSON.stringify({ file: options.out }, null, 2)}\n` : `Written to ${options.out}\n`);
  return EXIT.WELL;
}

function wantedBy({ out, organization, from, to, agent, format, since, platformSince }: ExportOptions): Wanted {
  const byName = EXPORT_FORMATS.find((one) => out.replace(/\.gz$/, '').endsWith(`.${one}`));
  const begin = timeOf('--from', from, 'start');
  const end = timeOf('--to', to, 'end');
  if (begin !== undefined && end !== undefined && begin > end) throw new Error('--from is later than --to: no moment lies between');
  const [own, platform] = [sizeOf('--since', since), sizeOf('--platform-since', platformSince)];
  return {
    format: format ?? byName ?? 'jsonl',
    ...(organization === undefined ? {} : { organizationId: organization }),
    ...(begin === undefined ? {} : { from: begin }),
    ...(end === undefined ? {} : { to: end }),
    ...(agent === undefined ? {} : { agentId: agent }),
    ...(own === undefined ? {} : { since: own }),
    ...(platform === undefined ? {} : { platformSince: platform }),
  };
}

function sizeOf(option: string, text: string | undefined): number | undefined {
  if (text !== undefined && !/^[1-9]\d{0,14}$/.test(text)) throw new Error(`${option} is the size of a checkpoint: a number`);
  return text === undefined ? undefined : Number(text);
}

function timeOf(option: string, text: string | undefined, edge: 'start' | 'end'): string | undefined {
  if (text === undefined) return undefined;
  const time = parseTimestamp(text) ?? parseDate(text, edge);
  if (time === undefined) throw new Error(`${option} is no time: write 2026-11-21, or 2026-11-21T09:30:00Z`);
  return time.toISOString();
}

type Write = (texts: AsyncIterable<string>) => Promise<void>;

async function fromServer(location: ServerLocation, wanted: Wanted, write: Write, signal: AbortSignal): Promise<void> {
  return write(textsOf(await serverExport(location, { ...wanted }, signal)));
}

async function* textsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  for await (const bytes of body) yield decoder.decode(bytes, { stream: true });
  yield decoder.decode();
}

async function fromDatabase(databaseUrl: string, env: NodeJS.ProcessEnv, wanted: Wanted, write: Write): Promise<void> {
  const seed = signingKeyOf(env);
  if (seed === undefined) throw new StartRefused(NO_SIGNING_KEY);
  const { exportDatabase } = await import('../../modules/audit/exports/export-database.js');
  await exportDatabase({ ...wanted, databaseUrl, seed }, write);
}
