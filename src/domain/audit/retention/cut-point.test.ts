import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { retentionBoundary, planCutPoints, type ExecutionSpan, type CoveredChain, type CutPoint, type ErasureLink } from './cut-point.js';

const BEFORE = '2026-06-01T00:00:00.000Z';
const checkpoint = (size: number, month: number, platformSize = size) => ({
  size, platformSize, madeAt: `2026-${String(month).padStart(2, '0')}-01T00:00:00.000Z`,
});

describe('the boundary in the tree', () => {
  const CASES: [name: string, checkpoints: ReturnType<typeof checkpoint>[], anchored: number, wanted: number][] = [
    ['is 0 without checkpoints', [], 100, 0],
    ['is the newest old checkpoint', [checkpoint(30, 5), checkpoint(10, 3), checkpoint(40, 6), checkpoint(50, 7)], 100, 30],
    ['does not count one made at the limit', [checkpoint(40, 6)], 100, 0],
    ['counts only what the anchors know', [checkpoint(10, 3, 4), checkpoint(30, 5, 9)], 8, 10],
    ['does not believe a clock that was set back', [checkpoint(10, 3), checkpoint(20, 8), checkpoint(30, 4)], 100, 10],
    ['goes past a young one that no anchor knows', [checkpoint(10, 8, 101), checkpoint(20, 4)], 100, 20],
  ];
  it.each(CASES)('%s', (_name, checkpoints, anchored, wanted) => {
    expect(retentionBoundary(checkpoints, anchored, BEFORE)).toBe(wanted);
  });
});

describe('a planned cut', () => {
  const span = (chain: string, first: number, last: number) => ({ chain, first, last });
  const belonging = (open: boolean, ...spans: ExecutionSpan['spans']): ExecutionSpan => ({ open, spans });
  const a: CoveredChain = { chain: 'a', first: 1, covered: 10 };
  const s: CoveredChain = { chain: 's', first: 3, covered: 6 };

  const goes = (ofA: number, ofS: number): CutPoint[] => [{ chain: 'a', seq: ofA, count: ofA }, { chain: 's', seq: ofS, count: ofS - 2 }];

  const CASES: [name: string, executions: ExecutionSpan[], erasures: ErasureLink[], wanted: CutPoint[]][] = [
    ['goes as far as chains are covered', [], [], goes(10, 6)],
    ['takes what ended below it whole', [belonging(false, span('a', 9, 10))], [], goes(10, 6)],
    ['stops before what is open', [belonging(true, span('a', 4, 5))], [], goes(3, 6)],
    ['parts nothing that goes on above it', [belonging(false, span('a', 8, 11))], [], goes(7, 6)],
    [
      'parts nothing that a lower cut would part',
      [belonging(false, span('a', 2, 5)), belonging(false, span('a', 5, 8)), belonging(true, span('a', 8, 8))],
      [],
      goes(1, 6),
    ],
    [
      'parts nothing across chains',
      [belonging(false, span('a', 2, 2), span('s', 7, 7)), belonging(false, span('a', 2, 3), span('s', 5, 5))],
      [],
      goes(1, 4),
    ],
    [
      'keeps an erasure entry as long as what it lists',
      [],
      [{ chain: 's', seq: 5, lists: [{ chain: 'a', seq: 11 }] }],
      goes(10, 4),
    ],
    [
      'lets it go after all of it',
      [],
      [{ chain: 's', seq: 5, lists: [{ chain: 'a', seq: 10 }, { chain: 's', seq: 1 }] }],
      goes(10, 6),
    ],
    [
      'keeps it for a chain that nothing covers',
      [],
      [{ chain: 's', seq: 3, lists: [{ chain: 'b', seq: 1 }] }],
      [{ chain: 'a', seq: 10, count: 10 }],
    ],
    ['leaves out chains of which nothing goes', [belonging(true, span('a', 1, 1), span('s', 3, 3))], [], []],
  ];
  it.each(CASES)('%s', (_name, executions, erasures, wanted) => {
    expect(planCutPoints([a, s], executions, erasures)).toEqual(wanted);
    expect(planCutPoints([a, s], executions.toReversed(), erasures)).toEqual(wanted);
  });

  it('is the farthest that keeps every rule', () => {
    const chains = ['a', 'b'] as const;
    const chain = fc.constantFrom(...chains);
    const seq = fc.integer({ min: 1, max: 6 });
    const anySpan = fc.tuple(chain, seq, seq).map(([name, x, y]) => span(name, Math.min(x, y), Math.max(x, y)));
    const few = { minLength: 1, maxLength: 2 };
    const executions = fc.array(fc.record({ spans: fc.array(anySpan, few), open: fc.boolean() }), { maxLength: 4 });
    const lists = fc.array(fc.record({ chain, seq }), few);
    const erasures = fc.array(fc.record({ chain, seq, lists }), { maxLength: 3 });
    fc.assert(
      fc.property(fc.nat({ max: 5 }), fc.nat({ max: 5 }), executions, erasures, (x, y, together, links) => {
        const keeps = (cut: Record<string, number>) => {
          const goes = (one: { chain: string; seq: number }) => one.seq <= cut[one.chain]!;
          return (
            together.every(({ spans, open }) => {
              const parts = spans.flatMap((one) => [{ chain: one.chain, seq: one.first }, { chain: one.chain, seq: one.last }]);
              return !parts.some(goes) || (!open && parts.every(goes));
            }) && links.every((link) => !goes(link) || link.lists.every(goes))
          );
        };
        let best = { a: 0, b: 0 };
        for (let i = 0; i <= x; i++) {
          for (let j = 0; j <= y; j++) if (keeps({ a: i, b: j }) && i + j >= best.a + best.b) best = { a: i, b: j };
        }
        const found = planCutPoints([{ chain: 'a', first: 1, covered: x }, { chain: 'b', first: 1, covered: y }], together, links);
        const cut = (name: string) => found.find((one) => one.chain === name)?.seq ?? 0;
        expect({ a: cut('a'), b: cut('b') }).toEqual(best);
      }),
      { numRuns: 500 },
    );
  });
});
