import { describe, expect, it } from '@jest/globals';
import { executionSpansOf, type PositionedEvent } from './execution-spans.js';

const entry = (chain: string, seq: number, event: string, names: Partial<PositionedEvent> = {}): PositionedEvent =>
  ({ chain, seq, event, executionId: null, hitlId: null, action: null, ...names });
const e = (seq: number, event: string, executionId: string, more: Partial<PositionedEvent> = {}) =>
  entry('a', seq, event, { executionId, ...more });
const h = (seq: number, event: string, hitlId: string, more: Partial<PositionedEvent> = {}) => entry('a', seq, event, { hitlId, ...more });
const span = (first: number, last: number, chain = 'a') => ({ chain, first, last });

describe('what belongs together', () => {
  const CASES: [name: string, events: PositionedEvent[], wanted: ReturnType<typeof executionSpansOf>][] = [
    ['is nothing where nothing is executed', [entry('a', 1, 'agent.registered')], []],
    [
      'is an execution from its beginning to its end',
      [e(2, 'execution.started', 'x'), e(3, 'execution.started', 'y'), e(5, 'execution.completed', 'x')],
      [{ spans: [span(2, 5)], open: false }, { spans: [span(3, 3)], open: true }],
    ],
    [
      'is a request with what it led to',
      [
        e(1, 'hitl.created', 'x', { hitlId: 'h' }), h(3, 'hitl.approved', 'h'), e(4, 'execution.started', 'x', { hitlId: 'h' }),
        e(6, 'execution.failed', 'x', { hitlId: 'h' }),
      ],
      [{ spans: [span(1, 6)], open: false }],
    ],
    [
      'is open while what was approved has not begun',
      [e(1, 'hitl.created', 'x', { hitlId: 'h' }), h(3, 'hitl.approved', 'h')],
      [{ spans: [span(1, 3)], open: true }],
    ],
    [
      'ends with a rejection',
      [e(1, 'hitl.created', 'x', { hitlId: 'h' }), h(2, 'hitl.rejected', 'h')],
      [{ spans: [span(1, 2)], open: false }],
    ],
    [
      'ends with a timeout that rejects',
      [e(1, 'hitl.created', 'x', { hitlId: 'h' }), h(2, 'hitl.timed_out', 'h', { action: 'reject' })],
      [{ spans: [span(1, 2)], open: false }],
    ],
    [
      'does not end with one that escalates',
      [e(1, 'hitl.created', 'x', { hitlId: 'h' }), h(2, 'hitl.timed_out', 'h', { action: 'escalate' }), h(3, 'hitl.escalated', 'h')],
      [{ spans: [span(1, 3)], open: true }],
    ],
    [
      'goes to where others told of it',
      [
        e(1, 'execution.started', 'x'), e(2, 'execution.failed', 'x'),
        entry('sys_o', 7, 'execution.settled', { executionId: 'x' }),
      ],
      [{ spans: [span(1, 2), span(7, 7, 'sys_o')], open: false }],
    ],
    ['is one of which the beginning is not there', [h(9, 'hitl.approved', 'h')], [{ spans: [span(9, 9)], open: true }]],
  ];
  it.each(CASES)('%s', (_name, events, wanted) => {
    expect(executionSpansOf(events)).toEqual(wanted);
  });
});
