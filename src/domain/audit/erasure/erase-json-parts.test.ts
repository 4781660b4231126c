import { describe, expect, test } from '@jest/globals';
import { newId } from '../../ids.js';
import type { JsonValue } from '../../json.js';
import { ANSWER, EDIT, EFFECT, ERROR, type Part, REASONS, REPORT, SETTLEMENT } from './erase-json-parts.js';
import { textMatcher } from './text-matcher.js';

const AT = '2026-01-01T00:00:00.000Z';
const [USER, EXECUTION] = [newId('usr'), newId('exec')];
/** Words that somebody may want to be gone, and that this server uses as well. */
const holds = textMatcher([
  'Jo Doe', 'success', 'outcome', 'output', 'durationMs', '123456', 'replace', 'by', 'executed', 'rule', 'message', 'grant_mode', 'event',
  'executionId', USER, EXECUTION, 'system', AT,
]);

const REPORTED = { outcome: 'success', durationMs: 123456, at: AT };
const DIFFERED = { op: 'replace', path: '/q' };

describe("words of people go, and the server's own stay", () => {
  test.each<[string, Part, JsonValue, JsonValue]>([
    ['a report', REPORT, { ...REPORTED, output: { outcome: 'well', n: 123456, kept: 1 }, error: 'Jo Doe' },
      { ...REPORTED, output: { '[erased]': 'well', n: '[erased]', kept: 1 }, error: '[erased]' }],
    ['a settlement', SETTLEMENT, { outcome: 'success', by: USER, at: AT, note: `${USER} said so` },
      { outcome: 'success', by: USER, at: AT, note: '[erased]' }],
    ['an edit', EDIT, { by: USER, at: AT, diff: [{ ...DIFFERED, value: 'Jo Doe' }, { op: 'add', path: '/Jo Doe', value: { by: 1 } }] },
      { by: USER, at: AT, diff: [{ ...DIFFERED, value: '[erased]' }, { op: 'add', path: '[erased]', value: { '[erased]': 1 } }] }],
    ['an error', ERROR, { code: 'event', message: 'no Jo Doe' }, { code: 'event', message: '[erased]' }],
    ['reasons', REASONS, [{ rule: 'grant_mode', detail: 'Jo Doe' }], [{ rule: 'grant_mode', detail: '[erased]' }]],
    ['an effect', EFFECT, { event: 'event', executionId: EXECUTION }, { event: 'event', executionId: EXECUTION }],
    ['an answer', ANSWER,
      { execution: { id: EXECUTION, status: 'executed', durationMs: 123456, input: { by: 'Jo Doe' },
        report: { ...REPORTED, error: 'Jo Doe' } } },
      { execution: { id: EXECUTION, status: 'executed', durationMs: 123456, input: { '[erased]': '[erased]' },
        report: { ...REPORTED, error: '[erased]' } } }],
    ['another answer', ANSWER, { user: { id: USER, name: 'Jo Doe', createdAt: AT, decidedBy: 'system' }, list: ['Jo Doe', USER] },
      { user: { id: USER, name: '[erased]', createdAt: AT, decidedBy: 'system' }, list: ['[erased]', USER] }],
  ])('%s', (_, part, value, left) => {
    expect(part(value, holds)).toEqual(left);
    expect(part(left, holds)).toBe(left);
  });

  test.each<[string, Part, JsonValue, JsonValue]>([
    ['another member', REPORT, { ...REPORTED, 'Jo Doe': { outcome: 1 } }, { ...REPORTED, '[erased]': { '[erased]': 1 } }],
    ['something in the place of a code', SETTLEMENT, { by: { name: 'Jo Doe' } }, { by: { name: '[erased]' } }],
    ['a text', REPORT, 'paid, says Jo Doe', '[erased]'],
    ['a list', EDIT, [{ by: 'Jo Doe' }], [{ '[erased]': '[erased]' }]],
    ['no list', REASONS, { rule: 'Jo Doe' }, { '[erased]': '[erased]' }],
    ['a name that no server gives', ANSWER, { 'for Jo Doe': 1 }, { '[erased]': 1 }],
  ])('what is not of that form is searched whole: %s', (_, part, value, left) => {
    expect(part(value, holds)).toEqual(left);
  });
});
