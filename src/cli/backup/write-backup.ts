import type { BackupSnapshot, CopiedTable } from './database/backup-snapshot.query.js';
import { encrypted, type Sealing } from './file/age-file.js';
import { FORMAT, MANIFEST, README, SECRETS, partName, readme, type BackupSecrets, type Manifest } from './file/manifest.js';
import { SeenTables } from './file/read-backup.js';
import { tarEnd, tarMember } from './file/tar.js';

const PART_BYTES = 4 * 1024 * 1024;
const NEW_LINE = 10;

export interface BackupOrder {
  readonly snapshot: BackupSnapshot;
  readonly sealing: Sealing;
  readonly secrets: BackupSecrets;
  readonly version: string;
  readonly onBytes: (bytes: number) => void;
}

/** Made of the bytes of a backup; the manifest is known when they have been read to their end. */
export interface BackupContent {
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly manifest: () => Manifest;
}

/** A backup as one stream, of which no more than a part stands in memory. */
export function backupContent(order: BackupOrder): BackupContent {
  const { snapshot, version } = order;
  const madeAt = new Date();
  let manifest: Manifest | undefined;
  const archive = async function* () {
    const { fingerprints: _fingerprints, ...facts } = snapshot.facts;
    const text = (name: string, content: string) => tarMember(name, [Buffer.from(content)], madeAt);
    yield* text(README, readme({ instance: facts.instance, madeAt: madeAt.toISOString() }));
    yield* text(SECRETS, `${JSON.stringify(order.secrets, null, 2)}\n`);
    const seen = new SeenTables(order.onBytes);
    for (const table of snapshot.tables) yield* tableMembers(snapshot, table, seen, madeAt);
    const tables = snapshot.tables.map(({ name, columns }) => ({ name, columns: [...columns], ...seen.of(name) }));
    manifest = { format: FORMAT, version, madeAt: madeAt.toISOString(), ...facts, tables };
    yield* text(MANIFEST, `${JSON.stringify(manifest, null, 2)}\n`);
    yield tarEnd();
  };
  return { bytes: encrypted(archive(), order.sealing), manifest: () => manifest! };
}

async function* tableMembers(
  snapshot: BackupSnapshot, table: CopiedTable, seen: SeenTables, madeAt: Date,
): AsyncGenerator<Uint8Array> {
  let [part, bytes] = [0, 0];
  let pieces: Uint8Array[] = [];
  const whole = () => tarMember(partName(table.name, ++part), pieces, madeAt);
  for await (const piece of snapshot.rowsOf(table)) {
    seen.add(table.name, piece);
    const end = bytes + piece.length < PART_BYTES ? 0 : piece.lastIndexOf(NEW_LINE) + 1;
    pieces.push(piece.subarray(0, end || piece.length));
    bytes += piece.length;
    if (end === 0) continue;
    yield* whole();
    pieces = end < piece.length ? [piece.subarray(end)] : [];
    bytes = piece.length - end;
  }
  if (bytes > 0) yield* whole();
}
