import { describe, expect, it } from '@jest/globals';
import { commitMembers, commitValue, disclosuresText, pointerDigest, type Disclosure } from '../entry/commitments.js';
import { blankingOf, searchedTexts, sortedBlanks, textsAt, type SearchedEntry } from './search-entry.js';
import { textMatcher } from './text-matcher.js';

function anEntry(more: Partial<SearchedEntry> = {}) {
  const made: Disclosure[] = [];
  commitMembers({ to: 'ada@example.org', amount: 5 }, '/metadata/input', made);
  commitMembers({ on_behalf_of: 'usr_0123456789abcdef' }, '/metadata/context', made);
  commitValue('192.0.2.7', '/origin/address', made);
  commitValue('Ada Byron', '/metadata/name', made);
  const entry: SearchedEntry = {
    id: 'audit_1', event: 'execution.started', hash: 'ff', disclosures: disclosuresText(made), pointers: [], ...more,
  };
  const d = (pointer: string) => made.find((one) => one.pointer === pointer)!.d;
  return { entry, d };
}

describe('what an erasure finds in an entry', () => {
  it('is what holds a text, and what stands at the user\'s pointers, but never a bare id', () => {
    const { entry, d } = anEntry({ pointers: ['/origin/address', '/metadata/context/on_behalf_of', '/actorId'] });
    const found = blankingOf(entry, textMatcher(['ADA@example.org']))!;
    expect(found.listed.map(([, digest]) => digest).sort()).toEqual([d('/metadata/input/to'), d('/origin/address')].sort());
    expect(found.before).toBe(entry.disclosures);
    expect(found.after).toContain('usr_0123456789abcdef');
    expect(found.after).not.toMatch(/ada@|192\.0/);
    expect(blankingOf({ ...entry, disclosures: found.after }, textMatcher(['ada@example.org']))).toBeUndefined();
  });

  it.each<[string, readonly string[], readonly string[], number]>([
    ['a text elsewhere', [], ['Ada Byron', 'ada@example.org'], 2],
    ['a text at the user\'s own pointer too', ['/metadata/name'], ['Ada Byron', 'ada@example.org'], 1],
    ['the user\'s own alone', ['/origin/address', '/metadata/name'], [], 0],
  ])('tells what is met by text and not the user\'s own: %s', (_what, pointers, texts, byText) => {
    expect(blankingOf(anEntry({ pointers }).entry, textMatcher(texts))!.byText).toBe(byText);
  });

  it('is listed where it is left: what was blank before only where its name goes, then under its new one', () => {
    const made: Disclosure[] = [];
    commitMembers({ 'of Ada Byron': 'ada@example.org', amount: 5 }, '/metadata/input', made);
    const of = (disclosures: string) => anEntry({ disclosures }).entry;
    const places = (text: string) => Object.fromEntries((JSON.parse(text) as Disclosure[]).map((one) => [one.d, pointerDigest(one)]));
    const d = made.find(({ pointer }) => pointer.endsWith('Byron'))!.d;
    const first = blankingOf(of(disclosuresText(made)), textMatcher(['ada@example.org']))!;
    expect(first.listed).toEqual([['ff', d, places(first.after)[d]]]);
    const second = blankingOf(of(first.after), textMatcher(['Ada Byron']))!;
    expect(second.after).not.toMatch(/Byron/);
    expect(second.listed).toEqual([['ff', d, places(second.after)[d]]]);
    expect(second.listed).not.toEqual(first.listed);
    const third = blankingOf(of(second.after), textMatcher(['5']))!;
    expect(third.listed.map(([, digest]) => digest)).not.toContain(d);
    expect(third.after).toContain(second.after.slice(1).split('}')[0]);
  });

  it('is nothing where nothing matches, and in what lists erased values', () => {
    expect(blankingOf(anEntry().entry, textMatcher(['Grace Hopper']))).toBeUndefined();
    expect(blankingOf(anEntry({ event: 'gdpr.erasure_executed' }).entry, textMatcher(['Ada Byron']))).toBeUndefined();
  });

  it.each([['hitl.approved', true], ['hitl.voted', true], ['hitl.created', false], ['execution.started', false]])(
    '%s is a decision: %s', (event, isDecision) => {
      expect(blankingOf(anEntry({ event }).entry, textMatcher(['Ada Byron']))!.isDecision).toBe(isDecision);
    });

  it('tells the texts of the user: address, e-mail address and name, and nothing else at their pointers', () => {
    const { entry } = anEntry();
    const recorded = textsAt(entry.disclosures, ['/origin/address', '/metadata/name', '/metadata/input/to']);
    expect(recorded.sort()).toEqual(['192.0.2.7', 'Ada Byron']);
    expect(textsAt(entry.disclosures, [])).toEqual([]);
  });
});

describe('what of a person is searched for', () => {
  it.each<[(string | null)[], string[]]>([
    [['ada@example.org', 'Ada Byron', null], ['ada@example.org', 'Ada Byron']],
    [['Ada', 'Admin', ' '], []],
    [['127.0.0.1', '::1', '10.0.0.1', '2001:db8::1'], ['10.0.0.1', '2001:db8::1']],
    [['Ada  Byron', 'Ada  Byron '], ['Ada  Byron']],
    [['https://example.org/ada.png'], ['https://example.org/ada.png']],
  ])('%j: %j', (known, wanted) => expect(searchedTexts(known)).toEqual(wanted));
});

it('lists what is blank sorted by hash, then digest, as ASCII', () => {
  expect(sortedBlanks([['b', 'x', 'p'], ['a', 'z', 'p'], ['a', 'Z', 'q'], ['a', 'z', 'p']]))
    .toEqual([['a', 'Z', 'q'], ['a', 'z', 'p'], ['a', 'z', 'p'], ['b', 'x', 'p']]);
});
