import type { Break } from '../breaks.js';
import { organizationChain } from '../chain.js';
import type { RecordKind, RecordRow } from '../record-row.js';
import { differences, type FactKind, type Place, type RecordFact, type RowFact, type ToldFact } from './record-fact.js';

const NOUNS: Readonly<Record<FactKind, string>> = {
  execution: 'execution', request: 'request', vote: 'vote', grant: 'grant', erasure: 'erasure',
  report: 'the report on execution', settlement: 'the settlement of execution',
};

const named = ({ kind, id }: Pick<RecordFact, 'kind' | 'id'>) => `${NOUNS[kind]} ${id}`;

export function incomplete({ chain, position, entryId }: Place, detail: string): Break {
  return { chain, position, entryId, kind: 'incomplete', detail };
}

export function withoutRow(told: ToldFact): Break {
  const { chain, position } = told.place;
  const where = `entry ${position} of chain ${chain}`;
  return incomplete(told.place, `${named(told)} is gone: ${where} tells of it (${told.status}), and no row shows it`);
}

export function withoutEntry(fact: RecordFact): Break {
  return incomplete(nowhere(fact), `${named(fact)} stands as ${fact.status}, and no entry tells of it`);
}

/** What no entry can tell of, whichever there are: those of a swept chain are not asked. */
export function neverTold(fact: RowFact): Break[] {
  return (fact.odd ?? []).map((what) => incomplete(nowhere(fact), `${named(fact)} shows ${what}, which no entry tells`));
}

/** What is told, or shown, in a way that nobody can follow. */
export function unjudged(fact: RecordFact & { readonly place?: Place }, why: string): Break {
  return incomplete(fact.place ?? nowhere(fact), `of ${named(fact)} nobody can tell: ${why}`);
}

export function unjudgedRow(kind: RecordKind, row: RecordRow, why: string): Break {
  return incomplete(nowhere(row), `of ${named({ kind, id: row.id })} nobody can tell: ${why}`);
}

function nowhere({ agentId, organizationId }: Pick<RecordFact, 'agentId' | 'organizationId'>): Place {
  return { chain: agentId ?? organizationChain(organizationId).chain, position: 0, entryId: null };
}

export function toldTwice(told: ToldFact): Break {
  return incomplete(told.place, `${named(told)} is told of twice: entry ${told.place.position} of chain ${told.place.chain} ends it again`);
}

export function disagreement(row: RowFact, told: ToldFact): Break[] {
  return disagreed(row, told, differences(row, told));
}

export function disagreed(row: RowFact, told: Pick<ToldFact, 'place'>, found: readonly string[]): Break[] {
  return found.length === 0 ? [] : [incomplete(told.place, `${named(row)} has ${found.join('; ')}`)];
}
