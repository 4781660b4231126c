// `npm run bench -- found`: what the scan and its peers find in the half of the corpus that is held out, written into
// docs/llm.md.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ENTITY_TYPES } from '../../src/domain/pii/entity-types.js';
import { scanText } from '../../src/domain/pii/scan-text.js';
import { corpus, CORPUS_TERMS } from './corpus.js';
import { foundTable } from './found-table.js';
import { loadPeers } from './peers.js';
import { type FoundSpan, scoresOf } from './score.js';

const lines = corpus('held-out');
const ours = scoresOf(lines, (text) => scanText(text, { terms: CORPUS_TERMS }).map(({ start, end, type }) => [start, end, type] as const));
const peers = [];
for (const peer of loadPeers()) {
  const found = new Map<string, readonly FoundSpan[]>();
  for (const { text } of lines) found.set(text, await peer.find(text));
  const scores = scoresOf(lines, (text) => found.get(text)!);
  peers.push({ name: peer.name, scores: new Map(peer.types.flatMap((type) => (scores.has(type) ? [[type,
    scores.get(type)!] as const] : []))) });
}
const path = join(process.cwd(), 'docs', 'llm.md');
const page = readFileSync(path, 'utf8');
const table = foundTable(ENTITY_TYPES.filter((type) => ours.has(type)), ours, peers);
writeFileSync(path, page.replace(/(<!-- found -->\n)[^]*?(?=<!-- \/found -->)/, (_, begin: string) => `${begin}\n${table}\n`));
const behind = peers.flatMap(({ name, scores }) =>
  [...scores].filter(([type, { f1 }]) => ours.get(type)!.f1 <= f1).map(([type, { f1 }]) => `${type} (${name}, ${f1.toFixed(2)})`));
process.stdout.write(`docs/llm.md says what is found.${behind.length === 0 ? '' : ` Not above the peer: ${behind.join(', ')}.`}\n`);
