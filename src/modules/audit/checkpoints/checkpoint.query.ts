import { PLATFORM_TREE, type StoredCheckpoint } from '../../../domain/audit/notes/checkpoint.js';
import type { ShownKey } from '../../../domain/audit/integrity/log-source.js';
import { decodeTime } from '../../../domain/audit/integrity/row-decoding.js';
import { given } from '../../../domain/given.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import { bounded, NOTE } from '../query/bounded-text.js';

/** A key that signs, or has signed, checkpoints. */
export interface SigningKeyRow extends ShownKey {
  /** 8 digits of hex. */
  readonly keyId: string;
}

type CheckpointRow = Omit<StoredCheckpoint, 'size' | 'platformSize' | 'madeAt'> & { size: string; platformSize: string; madeAt: unknown };

const COLUMNS = `${bounded('c.organization_id')} as "organizationId", c.size, coalesce(${bounded('c.root')}, '') as root,
  coalesce(${bounded('c.note', NOTE)}, '') as note,
  c.platform_size as "platformSize", c.made_at as "madeAt"`;

/** The newest checkpoint of a tree, an organization's or `platform`. */
export async function newestCheckpoint(run: ReadStatement, tree: string = PLATFORM_TREE): Promise<StoredCheckpoint | undefined> {
  return (await selected(run, tree, 'order by c.size desc limit 1'))[0];
}

/** The checkpoint of exactly that size; undefined where none was made, or it was thinned out. */
export async function checkpointOfSize(run: ReadStatement, tree: string, size: number): Promise<StoredCheckpoint | undefined> {
  return (await selected(run, tree, 'and c.size = $2', size))[0];
}

/** The checkpoints of a tree behind a size, smallest first. */
export function checkpointsOf(
  run: ReadStatement, tree: string, { after = -1, limit }: { readonly after?: number; readonly limit: number },
): Promise<StoredCheckpoint[]> {
  return selected(run, tree, 'and c.size > $2 order by c.size limit $3', after, limit);
}

/** The checkpoints of a tree below a size, newest first. */
export function checkpointsBelow(
  run: ReadStatement, tree: string,
  { size = Number.MAX_SAFE_INTEGER, limit, offset = 0 }: { readonly size?: number; readonly limit: number; readonly offset?: number },
): Promise<StoredCheckpoint[]> {
  return selected(run, tree, 'and c.size < $2 order by c.size desc limit $3 offset $4', size, limit, offset);
}

/** @param rest of the statement; its parameters begin with `$2` */
async function selected(run: ReadStatement, tree: string, rest: string, ...parameters: readonly number[]): Promise<StoredCheckpoint[]> {
  const rows = await run(`select ${COLUMNS} from audit_checkpoints c where c.organization_id = $1 ${rest}`, [tree, ...parameters]);
  return (rows as CheckpointRow[]).map(({ size, platformSize, madeAt, ...row }) =>
    ({ ...row, size: Number(size), platformSize: Number(platformSize), madeAt: decodeTime(madeAt) ?? 'no time' }));
}

/** Every key that has signed or signs, oldest first. */
export async function verifierKeys(run: ReadStatement): Promise<SigningKeyRow[]> {
  const rows = (await run(
    `select ${bounded('key_id')} as "keyId", ${bounded('verifier_key')} as key, from_size as "fromSize",
       retired_at_size as "retiredAtSize", ${bounded('note', NOTE)} as note
     from audit_signing_keys order by from_size, retired_at_size nulls last`,
    [],
  )) as (Pick<SigningKeyRow, 'keyId' | 'key'> & { fromSize: string; retiredAtSize: string | null; note: string | null })[];
  return rows.map(({ fromSize, retiredAtSize, ...row }) =>
    given({ ...row, fromSize: Number(fromSize), retiredAtSize: retiredAtSize === null ? null : Number(retiredAtSize) }));
}

/** The installation's name: that of its keys, and the beginning of every origin. */
export async function instanceName(run: ReadStatement): Promise<string> {
  const [row] = (await run('select name from instance', [])) as { name: string }[];
  if (!row) throw new Error('this database was never set up');
  return row.name;
}
