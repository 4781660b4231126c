import { organizationChain } from '../entry/chain.js';
import type { Finding } from '../integrity/findings.js';
import { type ClaimKind, differences, type EntryRef, type RecordClaim, type RecordedFact, type RowClaim } from './record-claim.js';

const NOUNS: Readonly<Record<ClaimKind, string>> = {
  execution: 'execution', request: 'request', vote: 'vote', grant: 'grant', erasure: 'erasure', task: 'task', secret: 'secret',
  report: 'the report on execution', settlement: 'the settlement of execution',
};

type Named = Pick<RecordClaim, 'kind' | 'id'>;
/** A claim of a row has no entry to point at: the finding stands in the chain where its entries would be. */
type Located = Named & Pick<RecordClaim, 'organizationId' | 'agentId'> & { readonly ref?: EntryRef };

const nameOf = ({ kind, id }: Named) => `${NOUNS[kind]} ${id}`;

/** An entry that does not fit those before it. */
export function contradiction(ref: EntryRef, what: string): Finding {
  return incomplete(ref, `${sentenceOf(ref)} ${what}`);
}

export function withoutRow(fact: RecordedFact): Finding {
  return incomplete(fact.ref, `${nameOf(fact)} is gone: ${sentenceOf(fact.ref)} records it (${fact.status}), and no row shows it`);
}

export function withoutEntry(claim: RowClaim): Finding {
  return incomplete(refOf(claim), `${nameOf(claim)} has status ${claim.status}, and no entry records it`);
}

export function recordedTwice(fact: RecordedFact): Finding {
  return incomplete(fact.ref, `${nameOf(fact)} ends twice: ${sentenceOf(fact.ref)} ends it again`);
}

/** Content of a row that no entry can have. */
export function malformedRow(claim: RowClaim): Finding[] {
  return (claim.malformed ?? []).map((what) => incomplete(refOf(claim), `${nameOf(claim)} shows ${what}, which no entry can record`));
}

/** A row, or what entries say, in a form that cannot be compared. */
export function unreadable(record: Located, why: string): Finding {
  return incomplete(refOf(record), `of ${nameOf(record)} nobody can tell: ${why}`);
}

export function disagreement(row: RowClaim, fact: RecordedFact): Finding[] {
  const found = differences(row, fact);
  return found.length === 0 ? [] : [incomplete(fact.ref, `${nameOf(row)} has ${found.join('; ')}`)];
}

function incomplete({ chain, position, entryId }: EntryRef, detail: string): Finding {
  return { chain, position, entryId, kind: 'incomplete', detail };
}

function refOf({ ref, agentId, organizationId }: Located): EntryRef {
  return ref ?? { chain: agentId ?? organizationChain(organizationId).chain, position: 0, entryId: null };
}

function sentenceOf({ chain, position }: EntryRef): string {
  return `entry ${position} of chain ${chain}`;
}
