import { z } from 'zod';
import { StartRefused } from '../../../platform/config/start-refused.js';

/** Raised when a backup is no longer read by those that read the last form. */
export const FORMAT = 1;

/** Files of the archive. Tables are in parts, each of whole rows in the text form of `COPY`: what any PostgreSQL loads by itself. */
export const MANIFEST = 'manifest.json';
export const SECRETS = 'secrets.json';
export const README = 'README.txt';

export function partName(table: string, part: number): string {
  return `tables/${table}/${String(part).padStart(6, '0')}.copy`;
}

/** The table of a part; undefined for the name of anything else. */
export function tableOfPart(name: string): string | undefined {
  return /^tables\/([a-z_][a-z0-9_]*)\/\d{6,}\.copy$/.exec(name)?.[1];
}

const name = z.string().regex(/^[a-z_][a-z0-9_]*$/).max(63);
const count = z.int().nonnegative();
const tree = z.object({ tree: z.string(), size: count, root: z.string() });

const manifest = z.object({
  format: z.literal(FORMAT),
  /** Of the service that made it. */
  version: z.string(),
  madeAt: z.iso.datetime(),
  /** The installation's name. */
  instance: z.string(),
  /** Of PostgreSQL. */
  server: z.string(),
  /** In the order in which they ran. */
  migrations: z.array(z.string()).min(1),
  tables: z.array(z.object({
    name, columns: z.array(name).min(1), rows: count, bytes: count, sha256: z.string().regex(/^[0-9a-f]{64}$/),
  })).min(1),
  /** Where the numbering of rows goes on. */
  sequences: z.array(z.object({ table: name, column: name, value: count })),
  /** How far each tree of the audit log has come, with its root in base64. */
  trees: z.array(tree),
  /** The newest checkpoint of the platform's tree; null before the first. */
  checkpoint: z.object({ size: count, note: z.string() }).nullable(),
});

/** While one is replaced, with the one that is accepted besides: the database may hold what only that one opens. */
const secrets = z.object({
  JWT_SECRET: z.string().min(1), ENCRYPTION_KEY: z.string().min(1), AUDIT_SIGNING_KEY: z.string().min(1),
  JWT_SECRET_ACCEPTED: z.string().min(1).optional(), ENCRYPTION_KEY_ACCEPTED: z.string().min(1).optional(),
});

/** By the names of their variables. */
export type BackupSecrets = z.infer<typeof secrets>;

export type Manifest = z.infer<typeof manifest>;
export type TableOfBackup = Manifest['tables'][number];
export type TreeOfBackup = z.infer<typeof tree>;

/** @throws StartRefused when it is none that this version reads */
export function readManifest(text: string): Manifest {
  const value = parsed(text);
  const { format } = (value ?? {}) as { format?: unknown };
  if (typeof format === 'number' && format > FORMAT) {
    throw new StartRefused(`this backup has form ${format}, and this version reads form ${FORMAT}: `
      + 'restore it with the version that made it');
  }
  const read = manifest.safeParse(value);
  if (!read.success) throw new StartRefused(`this is no backup of Countersign: its ${MANIFEST} cannot be read`);
  return read.data;
}

/** @throws StartRefused when one is missing */
export function readSecrets(text: string): BackupSecrets {
  const read = secrets.safeParse(parsed(text));
  if (!read.success) throw new StartRefused(`this is no backup of Countersign: its ${SECRETS} cannot be read`);
  return read.data;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** For whoever has the file and not the program. */
export function readme({ instance, madeAt }: Pick<Manifest, 'instance' | 'madeAt'>): string {
  return [
    `Backup of the Countersign installation ${instance}, made at ${madeAt}.`,
    '', 'countersign restore <file> brings it back, verifies the audit log and keeps it from serving until countersign recover.', '',
    `${SECRETS}      the secrets without which the database opens for no server`,
    `${MANIFEST}     the tables with their columns, rows and SHA-256 (over all parts of a table, in order)`,
    'tables/…          rows in the text form of COPY: cat tables/<name>/*.copy | psql -c "copy <name> (<columns>) from stdin"', '',
  ].join('\n');
}
