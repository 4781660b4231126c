import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { entryHash, preimage } from '../../../src/domain/audit/entry/entry-hash.js';
import { jcs } from '../../../src/domain/audit/entry/jcs.js';
import { linesOf, MADE_AT, INSTANCE, SIGNER, type Line } from '../verifier/export-maker.js';
import { leafHash, mapOf, merkleRoot } from '../memory/naive-trees.js';

const CHAINS = 20;

/** Writes the export of one organization with so many small entries in a few chains, a line at a time. */
export async function writeLongExport(file: string, entries: number): Promise<void> {
  const heads = new Map<string, { seq: number; hash: string }>();
  const leaves: Buffer[] = [];
  const entry = (n: number): Line => {
    const chain = `agt_${n % CHAINS}`;
    const last = heads.get(chain);
    const said = { actorId: 'root', event: 'agent.activated', id: `audit_${n}`, organizationId: 'org_a', timestamp: MADE_AT };
    const payload = jcs({ ...said, metadata: { epoch: n }, v: 1 });
    const hash = entryHash(preimage({ agentId: chain, payload, prevHash: last?.hash }));
    const seq = (last?.seq ?? 0) + 1;
    heads.set(chain, { seq, hash });
    return {
      kind: 'entry', index: n, ...said, chain, seq, agentId: chain, capability: null, outcome: null, payload, disclosures: '[]',
      prevHash: last?.hash ?? null, hash,
    };
  };
  for (let n = 0; n < entries; n++) {
    const { chain, hash, seq } = entry(n);
    leaves.push(leafHash(jcs({ chain, hash, seq })));
  }
  const ends = [...heads];
  heads.clear();
  const root = merkleRoot(leaves).toString('base64');
  const map = mapOf([{ organization: 'org_a', size: entries, root }]);
  const timestamp = MADE_AT;
  const all = leafHash(jcs({ map: map.root.toString('base64'), timestamp })).toString('base64');
  const note = (text: string) => `${text}\n${SIGNER.sign(text)}`;
  const [header] = linesOf({ entries: [], heads: [], leaves: [] }, { organizations: ['org_a'] });
  const lines = function* (): Generator<Line> {
    yield header!;
    yield { kind: 'checkpoint', note: note(`${INSTANCE}/platform\n1\n${all}\n`) };
    yield { kind: 'checkpoint', note: note(`${INSTANCE}/org_a\n${entries}\n${root}\n`) };
    const platform = { index: 0, size: 1, hashes: [] };
    yield { kind: 'map', organizationId: 'org_a', size: entries, root, siblings: [], timestamp, platform };
    yield { kind: 'section', organizationId: 'org_a', size: entries, chains: ends.length };
    for (let n = 0; n < entries; n++) yield entry(n);
    for (const [chain, end] of ends) yield { kind: 'head', organizationId: 'org_a', chain, ...end, closed: false };
  };
  const stream = createWriteStream(file);
  const digest = createHash('sha256');
  let count = 0;
  for (const line of lines()) {
    const text = `${jcs(line)}\n`;
    count++;
    digest.update(text);
    if (!stream.write(text)) await once(stream, 'drain');
  }
  const sha256 = digest.digest();
  const counts = { lines: count, entries, chains: ends.length, withheld: 0 };
  const signed = note(`${INSTANCE}/export\n${entries}\n${sha256.toString('base64')}\n${MADE_AT}\n`);
  stream.end(`${jcs({ kind: 'manifest', counts, sha256: sha256.toString('hex'), note: signed })}\n`);
  await once(stream, 'finish');
}
