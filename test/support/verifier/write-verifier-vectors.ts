import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { verify as Verify } from '../../../verifier/verify.mjs';
import { verifierCases } from './verifier-cases.js';

// Writes the committed vectors of the stand-alone verifier. Salts are random, so each run makes other bytes: all of them only when the
// format changes, else the new ones, by name. npm run prove >/dev/null &&
// node dist/proofs/test/support/verifier/write-verifier-vectors.js [name…]

const folder = join(process.cwd(), 'verifier', 'vectors');
const { verify } = (await import(pathToFileURL(join(process.cwd(), 'verifier', 'verify.mjs')).href)) as { verify: typeof Verify };
mkdirSync(folder, { recursive: true });
const named = process.argv.slice(2);
const before = named.length === 0 ? {} : (JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as Record<string, object>);
const expected: Record<string, object> = {};
for (const { name, lines, verdict, kinds } of verifierCases()) {
  const kept = before[`${name}.jsonl`];
  if (kept && !named.includes(name)) {
    expected[`${name}.jsonl`] = kept;
    continue;
  }
  const result = await verify(lines);
  const missed = kinds.filter((kind) => !result.breaks.some((one) => one.kind === kind));
  if (result.verdict !== verdict || missed.length > 0) throw new Error(`${name}: ${result.verdict}, without ${missed.join()}`);
  writeFileSync(join(folder, `${name}.jsonl`), `${lines.join('\n')}\n`);
  const breaks = result.breaks.map(({ chain, position, entryId, kind }) => ({ chain, position, entryId, kind }));
  expected[`${name}.jsonl`] = { verdict, entries: result.counts.entries, breaks };
}
writeFileSync(join(folder, 'expected.json'), `${JSON.stringify(expected, null, 1)}\n`);
