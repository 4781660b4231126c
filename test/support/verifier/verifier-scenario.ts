import { createHash, randomBytes } from 'node:crypto';
import type { RecordedEvent } from '../../../src/domain/audit/entry/prepare-entry.js';
import { agentChain, organizationChain, platformChain } from '../../../src/domain/audit/entry/chain.js';
import { disclosuresText, type Disclosure } from '../../../src/domain/audit/entry/commitments.js';
import { entryHash, preimage } from '../../../src/domain/audit/entry/entry-hash.js';
import { jcs } from '../../../src/domain/audit/entry/jcs.js';
import type { StoredEntry } from '../../../src/domain/audit/entry/stored-entry.js';
import type { JsonObject } from '../../../src/domain/json.js';
import { checkpointOf, erasureText, INSTANCE, nextKeyNote, noteOf, SIGNER, type ExportCutPoint, type Signer } from './export-maker.js';
import { append, type MemoryLog } from '../memory/memory-log.js';

// Logs in memory to make exports of: three organizations, a transfer, and what an erasure or a sweep leaves.

export const ORGANIZATIONS = ['org_platform', 'org_a', 'org_b'];

export class VerifierScenario {
  readonly log: MemoryLog = { entries: [], heads: [], leaves: [] };
  /** By which sweeps and erasures were signed, by their entries' ids. */
  readonly notes = new Map<string, string>();
  private count = 0;

  add(event: RecordedEvent, address = false): StoredEntry {
    const n = this.count++;
    return append(this.log, event, {
      id: `audit_${String(n).padStart(4, '0')}`,
      actorId: n % 2 ? 'root' : 'usr_ada',
      timestamp: new Date(1_795_000_000_000 + n * 1_000),
      origin: { via: 'rest', requestId: 'request-1', ...(address ? { address: '203.0.113.7' } : {}) },
    });
  }

  /** The closing half of a call, and the call. */
  call(organization: string, agent: string, n: number): void {
    const place = { chain: agentChain(organization, agent), agentId: agent, capability: 'email.send' };
    const input = { to: `person-${n}@example.org`, amount: n, 'a/b~c': [n, null] };
    const metadata = { executionId: `exec_${n}`, definition: 'd', input, reasons: [] };
    this.add({ ...place, type: 'execution.started', metadata }, n % 3 === 0);
    this.add({ ...place, type: 'hitl.rejected', metadata: { hitlId: `hitl_${n}`, comment: `not on day ${n}` } });
  }

  transfer(agent: string, from: string, to: string): void {
    const out = this.add({ chain: agentChain(from, agent), agentId: agent, type: 'agent.transferred', metadata: { direction: 'out' } });
    const metadata = { direction: 'in' as const, fromSeq: out.seq, fromHash: out.hash };
    const others = this.log.heads.filter((one) => one.organizationId !== to || one.chain !== agent);
    this.log.heads = [...others, { organizationId: to, chain: agent, seq: out.seq, hash: out.hash }];
    this.add({ chain: agentChain(to, agent), agentId: agent, type: 'agent.transferred', metadata });
  }

  /** Blanks every value at `pointer` of one entry, with or without the entry that says so; `left`: where it stands then. */
  blank(entry: StoredEntry, pointer: string, left = pointer): [string, string, string][] {
    const blanked: [string, string, string][] = [];
    const disclosures = (JSON.parse(entry.disclosures) as Disclosure[]).map((one): Disclosure => {
      if (one.pointer !== pointer) return one;
      const salt = randomBytes(16);
      const place = createHash('sha256').update(salt).update(jcs(left)).digest('base64url');
      blanked.push([entry.hash, one.d, place]);
      return { d: one.d, pointer: left, salt: salt.toString('base64url'), erased: true };
    });
    this.log.entries = this.log.entries.map((one) => (one === entry ? { ...one, disclosures: disclosuresText(disclosures) } : one));
    return blanked;
  }

  erase(organization: string, erased: readonly (readonly [string, string, string])[]): StoredEntry {
    const metadata = { userId: 'usr_bob', erased };
    const entry = this.add({ chain: organizationChain(organization), type: 'gdpr.erasure_executed', metadata });
    this.notes.set(entry.id, noteOf(erasureText(entry), [SIGNER]));
    return entry;
  }

  /** Appends what an entry says once more, to the same chain. */
  append({ organizationId, chain, ...said }: StoredEntry): void {
    const head = this.log.heads.find((one) => one.organizationId === organizationId && one.chain === chain)!;
    const [seq, prevHash] = [head.seq + 1, head.hash!];
    const hash = entryHash(preimage({ payload: said.payload, prevHash }));
    this.log.entries.push({ ...said, organizationId, chain, seq, prevHash, hash });
    this.log.heads = [...this.log.heads.filter((one) => one !== head), { organizationId, chain, seq, hash }];
    this.log.leaves.push({ organizationId, chain, seq, hash });
  }

  /** Announces a signing key, for which another one vouches. */
  rotate(keyId: string, by: Signer = SIGNER, before = 1, keyNote = nextKeyNote(before, keyId, by)): void {
    this.add({ chain: platformChain(), type: 'admin.signing_key_rotated', metadata: { keyId, keyNote } });
  }

  /** An entry of plain members only, past the catalogue, which writes what the service records today. */
  record(organizationId: string, event: string, metadata: JsonObject): StoredEntry {
    const { log } = this;
    const { chain } = organizationChain(organizationId);
    const head = log.heads.find((one) => one.organizationId === organizationId && one.chain === chain);
    const [seq, prevHash, n] = [(head?.seq ?? 0) + 1, head?.hash ?? null, this.count++];
    const said = {
      id: `audit_${String(n).padStart(4, '0')}`, event, actorId: 'system', organizationId, outcome: 'success',
      timestamp: new Date(1_795_000_000_000 + n * 1_000).toISOString(),
    };
    const payload = jcs({ ...said, metadata, origin: { via: 'sweeper' }, v: 1 });
    const hash = entryHash(preimage({ payload, prevHash: prevHash ?? undefined }));
    const entry: StoredEntry = { ...said, chain, seq, agentId: null, capability: null, payload, disclosures: '[]', prevHash, hash };
    log.entries.push(entry);
    log.heads = [...log.heads.filter((one) => one !== head), { organizationId, chain, seq, hash }];
    log.leaves.push({ organizationId, chain, seq, hash });
    return entry;
  }

  /** Records a sweep of chains up to positions under the checkpoint of `size` leaves. The entries stay in the log: the export cuts. */
  sweep(organization: string, size: number, chains: Readonly<Record<string, number>>): Map<string, ExportCutPoint> {
    const checkpoint = checkpointOf(this.log, organization, size);
    const cuts = Object.entries(chains).map(([chain, seq]) => {
      const own = this.log.entries.filter((one) => one.organizationId === organization && one.chain === chain && one.seq <= seq);
      return { chain, seq, hash: own.at(-1)!.hash, count: own.length };
    });
    const metadata = {
      before: '2026-11-01T00:00:00.000Z', chains: cuts, checkpoint, archive: { skeleton: '0'.repeat(64), disclosures: '1'.repeat(64) },
    };
    const { id: sweepEntryId, payload } = this.record(organization, 'admin.audit_retention_sweep', metadata);
    const gone = cuts.reduce((sum, { count }) => sum + count, 0);
    const text = `${INSTANCE}/${organization}/sweep\n${gone}\n${createHash('sha256').update(`{"payload":${payload}}`).digest('base64')}\n`;
    this.notes.set(sweepEntryId, noteOf(text, [SIGNER]));
    return new Map(cuts.map(({ chain, ...cut }) => [chain, { ...cut, sweepEntryId, checkpoint, text }]));
  }
}

/** A log of every shape that an export has: three organizations, chains of agents, a transfer there and back. */
export function scenario(calls = 4): VerifierScenario {
  const made = new VerifierScenario();
  const rotated = { chain: platformChain(), type: 'admin.signing_key_rotated' as const, metadata: { keyId: SIGNER.vkey } };
  made.add(rotated);
  for (let n = 0; n < calls; n++) {
    made.call('org_a', 'agt_1', n);
    if (n % 2 === 0) made.call('org_a', 'agt_2', n + 100);
    made.call('org_b', 'agt_4', n + 200);
    made.add({ chain: organizationChain('org_a'), type: 'auth.login', metadata: { method: 'password' } });
    if (n === 2) made.transfer('agt_1', 'org_a', 'org_b');
    if (n === 2) made.transfer('agt_1', 'org_b', 'org_a');
  }
  return made;
}
