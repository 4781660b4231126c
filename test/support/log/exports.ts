import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Result } from '../../../verifier/verify.mjs';
import { eventually } from '../running/eventually.js';
import type { TestServer } from '../servers/server.js';
import { CHECKOUT } from '../servers/test-run.js';

export interface Downloaded {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
  /** The lines of a JSONL file, read. */
  lines(): (Record<string, unknown> & { readonly kind: string })[];
}

/** Fetches a file as whoever holds the key. What was compressed for the way is unpacked, the file itself is not. */
export async function download(
  server: TestServer, key: string, path: string, query: Readonly<Record<string, string | number>> = {},
): Promise<Downloaded> {
  const target = new URL(path, server.url);
  for (const [name, value] of Object.entries(query)) target.searchParams.set(name, String(value));
  const response = await fetch(target, { headers: { authorization: `Bearer ${key}` } });
  const bytes = Buffer.from(await response.arrayBuffer());
  const lines = () => bytes.toString('utf8').trimEnd().split('\n').map((one) => JSON.parse(one) as { kind: string });
  return { status: response.status, headers: response.headers, bytes, lines };
}

/** Waits until every entry of every organization stands under a signed checkpoint. */
export function allSigned(server: TestServer): Promise<void> {
  return eventually(async () => {
    const [row] = await server.sql<{ behind: number; queued: number }>(
      `select count(*) filter (where c.size is distinct from t.size)::integer as behind,
         (select count(*)::integer from audit_tree_queue) as queued
       from audit_trees t left join lateral (
         select max(size) as size from audit_checkpoints c where c.organization_id = t.organization_id) c on true
       where t.size > 0`,
    );
    if (row!.behind > 0 || row!.queued > 0) throw new Error(`not signed yet: ${JSON.stringify(row)}`);
  }, { every: 100 });
}

export interface Verified extends Result {
  readonly exitCode: number;
}

/** Verifies a file by the stand-alone verifier, as a program of its own. */
export function verifyFile(file: string, keys: readonly string[] = [], more: readonly string[] = []): Promise<Verified> {
  const words = [join(CHECKOUT, 'verifier', 'verify.mjs'), file, '--json', ...keys.flatMap((key) => ['--key', key]), ...more];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, words, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const exitCode = typeof error?.code === 'number' ? error.code : 0;
      try {
        resolve({ ...(JSON.parse(stdout) as Result), exitCode });
      } catch {
        reject(new Error(`the verifier ended with ${exitCode}: ${stderr}`));
      }
    });
  });
}

/** The same for bytes that are no file yet. */
export async function verifyBytes(bytes: Uint8Array, keys: readonly string[] = [], name = 'export.jsonl'): Promise<Verified> {
  const folder = mkdtempSync(join(tmpdir(), 'export-'));
  try {
    writeFileSync(join(folder, name), bytes);
    return await verifyFile(join(folder, name), keys);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The installation's verifier key, past the API. */
export async function verifierKeyOf(server: TestServer): Promise<string> {
  const [row] = await server.sql<{ key: string }>('select verifier_key as key from audit_signing_keys where retired_at_size is null');
  return row!.key;
}
