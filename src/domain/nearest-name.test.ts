import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CATALOGUE } from './gate/catalogue.js';
import { nearestName } from './nearest-name.js';

const MEMBERS = ['capability', 'input', 'payload', 'action', 'context', 'dryRun', 'agentId', 'hitlMode', 'expiresAt', 'to'];
const CAPABILITIES = CATALOGUE.map(({ name }) => name);

describe('nearestName finds', () => {
  it.each([
    ['a letter left out', 'capabilty', 'capability'],
    ['two letters left out', 'cpabilty', 'capability'],
    ['letters swapped', 'contxet', 'context'],
    ['a letter put in', 'inputt', 'input'],
    ['a letter mistaken', 'agemtId', 'agentId'],
    ['another case', 'dryrun', 'dryRun'],
    ['another case and separator', 'HITL-MODE', 'hitlMode'],
    ['a slip in snake_case', 'dry_rnu', 'dryRun'],
    ['a slip in a name of two letters', 'ot', 'to'],
    ['the end of a name', 'mode', 'hitlMode'],
    ['its beginning', 'expires', 'expiresAt'],
    ['more than the name', 'capabilityName', 'capability'],
  ])('%s', (_what, wrong, meant) => {
    expect(nearestName(wrong, MEMBERS)).toBe(meant);
  });

  it.each([['web.serch', 'web.search'], ['web:search', 'web.search'], ['Email.Send', 'email.send'], ['search', 'web.search']])(
    'of capabilities %s', (wrong, meant) => {
      expect(nearestName(wrong, CAPABILITIES)).toBe(meant);
    },
  );
});

describe('nearestName finds nothing', () => {
  it.each(['', '_', 'x', 'status', 'note', 'act', 'run', 'x'.repeat(100_000), 'ínpüt of a kind'])('near %s', (wrong) => {
    expect(nearestName(wrong, MEMBERS)).toBeUndefined();
  });

  it('among no names', () => {
    expect(nearestName('input', [])).toBeUndefined();
  });
});

describe('nearestName', () => {
  it('takes the nearer of two, and the first of two that are as near', () => {
    expect(nearestName('statsu', ['state', 'status'])).toBe('status');
    expect(nearestName('forn', ['form', 'fork'])).toBe('form');
  });

  it('finds every capability again, whichever letter is missing or swapped with its neighbour', () => {
    const letters = (name: string) => [...name].map((_, at) => at);
    for (const name of CAPABILITIES) {
      for (const at of letters(name)) {
        const dropped = name.slice(0, at) + name.slice(at + 1);
        const found = nearestName(dropped, CAPABILITIES)!;
        expect(found.replace(/[.:]/, '')).toBe(name.replace(/[.:]/, ''));
      }
    }
  });

  it('never throws, and answers one of the names', () => {
    fc.assert(fc.property(fc.string({ maxLength: 80 }), fc.array(fc.string(), { maxLength: 5 }), (wrong, names) => {
      const found = nearestName(wrong, names);
      expect(found === undefined || names.includes(found)).toBe(true);
    }));
  });
});
