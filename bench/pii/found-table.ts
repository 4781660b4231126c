import type { EntityType } from '../../src/domain/pii/entity-types.js';
import type { Score } from './score.js';

export type Scores = ReadonlyMap<EntityType, Score>;

const percent = (share: number) => (share * 100).toFixed(0);
const cell = (score: Score | undefined) => (score === undefined ? '' : `${percent(score.precision)} / ${percent(score.recall)}`);

/** Precision and recall in percent, a row for each type. A peer's cell is empty where it has nothing of the kind. */
export function foundTable(types: readonly EntityType[], ours: Scores,
  peers: readonly { readonly name: string; readonly scores: Scores }[]): string {
  const head = ['Type', 'values', 'Countersign', ...peers.map(({ name }) => `\`${name}\``)];
  const rows = types.map((type) => {
    const score = ours.get(type)!;
    return [type, String(score.values), cell(score), ...peers.map(({ scores }) => cell(scores.get(type)))];
  });
  return [head, head.map((_, index) => (index === 0 ? '---' : '---:')), ...rows].map((row) => `| ${row.join(' | ')} |\n`).join('');
}
