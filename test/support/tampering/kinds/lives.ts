import type { AuditEvent } from '../../../../src/domain/audit/catalogue/audit-events.js';
import { prepareEntry, type PreparedEntry, type RecordedEvent } from '../../../../src/domain/audit/entry/prepare-entry.js';
import { isAgentChain, organizationChain } from '../../../../src/domain/audit/entry/chain.js';
import { readEntry } from '../../../../src/domain/audit/entry/read-entry.js';
import type { StoredEntry } from '../../../../src/domain/audit/entry/stored-entry.js';
import { definitionDigest } from '../../../../src/domain/gate/definition-digest.js';
import { newId } from '../../../../src/domain/ids.js';
import { restingOnNow } from '../../log/resting-on.js';
import { append } from '../append-entry.js';
import { forgedFrom } from '../altered-entry.js';
import { blankable, erasure, keepNote, ordered } from './erasures.js';
import { stamped } from '../every-event.js';
import type { TamperTarget, Tampering } from '../tampering.js';

/** What is properly appended, by whoever may append, and says what is not so: of agents' lives, transfers and erasures. */

const REGISTERED = { type: 'agent.registered', metadata: { name: 'again', riskLevel: 'low' } };

const elsewhere = ({ log, random, organizationId }: TamperTarget) =>
  random.of(log.organizations.filter((id) => id !== organizationId && id !== 'org_platform'));

async function head(place: TamperTarget, organizationId: string, chain: string, seq = 0, hash: string | null = null): Promise<void> {
  await place.run('insert into audit_heads (organization_id, chain, seq, hash) values ($1, $2, $3, $4)', [organizationId, chain,
    seq, hash]);
}

export const UNSEEN = 'what entries say of decisions is for the service to judge';

export async function said(place: TamperTarget, chain: string, event: object, timestamp: Date, actorId = 'root'): Promise<void> {
  const { organizationId } = place;
  const where = isAgentChain(chain) ? { chain: { organizationId, chain }, agentId: chain } : { chain: organizationChain(organizationId) };
  const recorded = await restingOnNow((sql, parameters) => place.run(sql, parameters), organizationId, event as AuditEvent, actorId);
  await append(place, prepareEntry({ ...recorded, ...where } as RecordedEvent, { id: newId('audit'), actorId, timestamp }));
}

/** One of an agent that may still be written to. */
async function anyBegun(place: TamperTarget): Promise<StoredEntry | undefined> {
  const begun = place.entry(({ event, payload }) => event === 'execution.started' && !payload.includes('"decisionId"'));
  return begun && !(await closed(place, begun.chain)) ? begun : undefined;
}

export const LIVES: readonly Tampering[] = [
  {
    name: 'money that moves without anybody', kinds: ['gate_wrong'], judged: true, unseen: UNSEEN,
    tamper: async (place) => {
      const begun = await anyBegun(place);
      if (!begun) return undefined;
      const metadata = { executionId: newId('exec'), definition: definitionDigest({}), grantVersion: 1, input: {}, reasons: [] };
      const event = { type: 'execution.started', capability: 'finance.transfer', metadata };
      await said(place, begun.chain, event, new Date(), begun.chain);
      return { at: [begun.chain] };
    },
  },
  {
    name: 'what runs through a stop, behind a clock of long ago', kinds: ['gate_wrong'], judged: true, unseen: UNSEEN, in: 'unswept',
    tamper: async (place) => {
      const begun = await anyBegun(place);
      if (!begun) return undefined;
      const own = organizationChain(place.organizationId).chain;
      const stop = { stopId: newId('stp'), scope: 'organization', reason: 'enough' };
      await said(place, own, { type: 'admin.stop_started', metadata: stop }, new Date(Date.now() - 60_000));
      const metadata = { ...readEntry(begun).metadata, executionId: newId('exec') };
      await said(place, begun.chain, { type: 'execution.started', capability: begun.capability, metadata }, new Date());
      await said(place, own, { type: 'admin.user_updated', metadata: { userId: newId('usr'), name: 'x' } }, new Date(0));
      return { at: [begun.chain] };
    },
  },
  {
    name: 'a call that does not say what it rests on', kinds: ['gate_wrong'], judged: true, unseen: UNSEEN,
    tamper: async (place) => {
      const begun = await anyBegun(place);
      if (!begun) return undefined;
      const basis = place.random.of([undefined, 'now', { organization: 1e9, platform: 1, at: begun.timestamp }]);
      const metadata = { ...readEntry(begun).metadata, executionId: newId('exec'), basis };
      await said(place, begun.chain, { type: 'execution.started', capability: begun.capability, metadata }, new Date());
      return { at: [begun.chain] };
    },
  },
  {
    name: 'an agent registered a second time', kinds: ['inserted'],
    tamper: async (place) => {
      const chain = place.agentChain();
      if (!chain || (await closed(place, chain[0]!.chain))) return undefined;
      await append(place, stamped({ organizationId: place.organizationId, chain: chain[0]!.chain }, REGISTERED, place.random));
      return { at: [chain[0]!.chain] };
    },
  },
  {
    name: 'an agent removed, and its id used again', kinds: ['tree_mismatch', 'truncated', 'forked', 'edited', 'reordered'],
    tamper: async (place) => {
      const chain = place.agentChain(2);
      if (!chain) return undefined;
      const ref = { organizationId: place.organizationId, chain: chain[0]!.chain };
      await place.remove(chain);
      await place.removeHead(ref);
      await head(place, ref.organizationId, ref.chain);
      await append(place, stamped(ref, REGISTERED, place.random), stamped(ref, { type: 'agent.deactivated', metadata: {} },
        place.random));
      return { at: [ref.chain, ref.organizationId] };
    },
  },
  {
    name: 'the id of an agent used again in another organization', kinds: ['inserted'], whole: 'it takes two organizations to see',
    in: 'unswept',
    tamper: async (place) => {
      const chain = place.agentChain();
      if (!chain) return undefined;
      const ref = { organizationId: elsewhere(place), chain: chain[0]!.chain };
      if (place.log.chainsOf(ref.organizationId).has(ref.chain)) return undefined;
      await head(place, ref.organizationId, ref.chain);
      await append(place, stamped(ref, REGISTERED, place.random));
      return { at: [ref.chain] };
    },
  },
  {
    name: 'an agent that arrives and has never left', kinds: ['inserted', 'truncated'],
      whole: 'the other half lies in another organization',
    tamper: async (place) => {
      const chain = place.agentChain();
      if (!chain || place.log.cut.has(`${place.organizationId} ${chain[0]!.chain}`)) return undefined;
      const from = place.random.of(chain);
      const ref = { organizationId: elsewhere(place), chain: from.chain };
      if (place.log.chainsOf(ref.organizationId).has(ref.chain)) return undefined;
      await head(place, ref.organizationId, ref.chain, from.seq, from.hash);
      const metadata = { direction: 'in', fromSeq: from.seq, fromHash: from.hash };
      await append(place, stamped(ref, { type: 'agent.transferred', metadata }, place.random));
      return { at: [ref.chain] };
    },
  },
  {
    name: 'an agent that has left and arrives nowhere', kinds: ['inserted', 'truncated'],
      whole: 'the other half lies in another organization',
    tamper: async (place) => {
      const chain = place.agentChain();
      if (!chain || place.log.cut.has(`${place.organizationId} ${chain[0]!.chain}`)) return undefined;
      const ref = { organizationId: place.organizationId, chain: chain[0]!.chain };
      if (await closed(place, ref.chain)) return undefined;
      await append(place, stamped(ref, { type: 'agent.transferred', metadata: { direction: 'out' } }, place.random));
      await place.run('update audit_heads set closed_at = now() where organization_id = $1 and chain = $2', [ref.organizationId,
        ref.chain]);
      return { at: [ref.chain] };
    },
  },
  {
    name: 'an agent that was transferred neither from here nor to here', kinds: ['inserted'],
    tamper: async (place) => {
      const chain = place.agentChain();
      if (!chain || (await closed(place, chain[0]!.chain))) return undefined;
      const ref = { organizationId: place.organizationId, chain: chain[0]!.chain };
      const metadata = { direction: place.random.of(['sideways', '', 'IN', 1, ['in'], false]) };
      await append(place, stamped(ref, { type: 'agent.transferred', metadata }, place.random));
      return { at: [ref.chain] };
    },
  },
  {
    name: "blanked, and another organization's erasure lists it", kinds: ['unauthorised_erasure'],
    tamper: async (place) => {
      const blank = blankable(place);
      if (!blank) return undefined;
      await appendSigned(place, erasure(place, elsewhere(place), [blank.listed]));
      await place.set(blank.entry, 'disclosures', blank.blanked);
      return { at: [blank.entry.chain] };
    },
  },
  {
    name: 'blanked, and an erasure lists another value of it', kinds: ['unauthorised_erasure'],
    tamper: async (place) => {
      const blank = blankable(place);
      if (!blank) return undefined;
      const [hash, d, at] = blank.listed;
      const [otherHash, otherDigest] = ['0'.repeat(64), 'A'.repeat(43)];
      const other = place.random.of([[hash, otherDigest, at], [otherHash, d, at], [hash, d, otherDigest]] as const);
      await appendSigned(place, erasure(place, place.organizationId, [other]));
      await place.set(blank.entry, 'disclosures', blank.blanked);
      return { at: [blank.entry.chain] };
    },
  },
  {
    name: 'blanked, and a forged erasure lists it that was never appended', kinds: ['inserted', 'unauthorised_erasure'],
    tamper: async (place) => {
      const blank = blankable(place);
      const own = place.log.chainsOf(place.organizationId).get(organizationChain(place.organizationId).chain)?.at(-1);
      if (!blank || !own) return undefined;
      const prepared = erasure(place, place.organizationId, [blank.listed]);
      const { chain, payload, disclosures, timestamp, actorId } = prepared;
      const forged = forgedFrom(
        { ...own, payload, disclosures, timestamp, actorId, event: prepared.event, capability: null, outcome: prepared.outcome ?? null },
        { chain, seq: own.seq + 1, prevHash: own.hash });
      await keepNote(place, forged, ordered(place, forged));
      await place.insert([forged]);
      await place.setHead(forged);
      await place.set(blank.entry, 'disclosures', blank.blanked);
      return { at: [blank.entry.chain, chain] };
    },
  },
  {
    name: 'blanked, and an entry that is no erasure lists it', kinds: ['unauthorised_erasure'],
    tamper: async (place) => {
      const blank = blankable(place);
      if (!blank) return undefined;
      const metadata = { stopId: 'stop', erased: [blank.listed] };
      await append(place, stampedAs('admin.recovered', organizationChain(place.organizationId), metadata, place));
      await place.set(blank.entry, 'disclosures', blank.blanked);
      return { at: [blank.entry.chain] };
    },
  },
];

/** What is wrong with it is then what it lists. */
async function appendSigned(place: TamperTarget, entry: PreparedEntry): Promise<void> {
  await append(place, entry);
  await keepNote(place, entry, ordered(place, entry));
}

/** Of a type that would not carry it: the text is made of an erasure's. */
function stampedAs(type: string, chain: PreparedChain, { erased }: { erased: unknown }, place: TamperTarget): PreparedEntry {
  const prepared = stamped(chain, { type: 'gdpr.erasure_executed', metadata: { erased } }, place.random);
  const payload = prepared.payload.replace('"gdpr.erasure_executed"', `"${type}"`);
  return { ...prepared, event: type as PreparedEntry['event'], payload };
}

type PreparedChain = ReturnType<typeof organizationChain>;

async function closed({ run, organizationId }: TamperTarget, chain: string): Promise<boolean> {
  const [row] = await run('select closed_at is not null as closed from audit_heads where organization_id = $1 and chain = $2',
    [organizationId, chain]);
  return row?.['closed'] === true;
}
