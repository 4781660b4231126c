import { describe, expect, it } from '@jest/globals';
import { traceIdOf } from './request-context.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

describe('traceIdOf', () => {
  it.each([
    ['a version 00 header', `00-${TRACE}-${PARENT}-01`, TRACE],
    ['a later version with more members', `01-${TRACE}-${PARENT}-01-more`, TRACE],
    ['version 00 with more members', `00-${TRACE}-${PARENT}-01-more`, undefined],
    ['version ff', `ff-${TRACE}-${PARENT}-01`, undefined],
    ['a trace id of zeros', `00-${'0'.repeat(32)}-${PARENT}-01`, undefined],
    ['a parent id of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
    ['upper case', `00-${TRACE.toUpperCase()}-${PARENT}-01`, undefined],
    ['a short trace id', `00-${TRACE.slice(1)}-${PARENT}-01`, undefined],
    ['an absurd length', `01-${TRACE}-${PARENT}-01-${'x'.repeat(200)}`, undefined],
    ['nothing', undefined, undefined],
  ])('%s', (_what, header, wanted) => {
    expect(traceIdOf(header)).toBe(wanted);
  });
});
