import { describe, expect, it } from '@jest/globals';
import { newId } from '../../../domain/ids.js';
import { readPathParam } from './path-param.js';
import { loggedPath } from './request-log.js';

describe('readPathParam', () => {
  it('gives the text', () => {
    const id = newId('agt');
    expect(readPathParam(id, { prefix: 'agt' })).toBe(id);
    expect(readPathParam('email.send', {})).toBe('email.send');
  });

  it.each([
    [newId('org'), 'agt' as const], ['agt_', 'agt' as const], ['1', 'agt' as const], ["agt_' or 1=1", 'agt' as const],
    ['a\0b', undefined], ['a\nb', undefined], ['', undefined], ['x'.repeat(201), undefined], [undefined, undefined],
    [['a'], undefined],
  ])('finds nothing under %j', (value, prefix) => {
    const read = () => readPathParam(value, prefix === undefined ? {} : { prefix });
    expect(read).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  });
});

describe('loggedPath', () => {
  it('keeps ids, and neither queries nor secrets', () => {
    const id = newId('hitl');
    expect(loggedPath(`/api/v1/hitl/${id}/approve?token=secret`)).toBe(`/api/v1/hitl/${id}/approve`);
    expect(loggedPath(`/decide/${'s3cr3t'.repeat(10)}`)).toBe('/decide/s3cr3ts3…');
  });
});
