import type { Finding } from '../integrity/findings.js';
import { organizationChain } from '../entry/chain.js';
import type { RecordKind, RecordRow } from './record-row.js';
import { differences, type ClaimKind, type EntryRef, type RecordClaim, type RowClaim, type RecordedFact } from './record-claim.js';

const NOUNS: Readonly<Record<ClaimKind, string>> = {
  execution: 'execution', request: 'request', vote: 'vote', grant: 'grant', erasure: 'erasure',
  report: 'the report on execution', settlement: 'the settlement of execution',
};

const named = ({ kind, id }: Pick<RecordClaim, 'kind' | 'id'>) => `${NOUNS[kind]} ${id}`;

export function incompleteFinding({ chain, position, entryId }: EntryRef, detail: string): Finding {
  return { chain, position, entryId, kind: 'incomplete', detail };
}

export function withoutRow(told: RecordedFact): Finding {
  const { chain, position } = told.place;
  const where = `entry ${position} of chain ${chain}`;
  return incompleteFinding(told.place, `${named(told)} is gone: ${where} tells of it (${told.status}), and no row shows it`);
}

export function withoutEntry(fact: RecordClaim): Finding {
  return incompleteFinding(nowhere(fact), `${named(fact)} stands as ${fact.status}, and no entry tells of it`);
}

/** What no entry can tell of, whichever there are: those of a swept chain are not asked. */
export function neverRecorded(fact: RowClaim): Finding[] {
  return (fact.odd ?? []).map((what) => incompleteFinding(nowhere(fact), `${named(fact)} shows ${what}, which no entry tells`));
}

/** What is told, or shown, in a way that nobody can follow. */
export function uncheckedClaim(fact: RecordClaim & { readonly place?: EntryRef }, why: string): Finding {
  return incompleteFinding(fact.place ?? nowhere(fact), `of ${named(fact)} nobody can tell: ${why}`);
}

export function uncheckedRow(kind: RecordKind, row: RecordRow, why: string): Finding {
  return incompleteFinding(nowhere(row), `of ${named({ kind, id: row.id })} nobody can tell: ${why}`);
}

function nowhere({ agentId, organizationId }: Pick<RecordClaim, 'agentId' | 'organizationId'>): EntryRef {
  return { chain: agentId ?? organizationChain(organizationId).chain, position: 0, entryId: null };
}

export function recordedTwice(told: RecordedFact): Finding {
  return incompleteFinding(told.place, `${named(told)} is told of twice: entry ${told.place.position} of chain ${told.place.chain} ends it again`);
}

export function disagreement(row: RowClaim, told: RecordedFact): Finding[] {
  return disagreed(row, told, differences(row, told));
}

export function disagreed(row: RowClaim, told: Pick<RecordedFact, 'place'>, found: readonly string[]): Finding[] {
  return found.length === 0 ? [] : [incompleteFinding(told.place, `${named(row)} has ${found.join('; ')}`)];
}
