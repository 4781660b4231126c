import { describe, expect, test } from '@jest/globals';
import { judgeSecret, keptText, parseKept, type PresentFingerprints } from './kept-fingerprint.js';

const NOW = 1_000;
/** What is kept once a server has started with these; or why it does not. */
function start(kept: string, ...present: PresentFingerprints): string {
  const judged = judgeSecret(parseKept(kept), present, NOW);
  return judged.ok ? keptText(judged.kept) : judged.because;
}

test.each(['a', 'a +b', 'a -b@7', 'a !b !c', 'a +d !b', 'a -d@7 !b'])('"%s" reads as what was written', (text) => {
  expect(keptText(parseKept(text))).toBe(text);
});

describe('step by step, with two servers of which one is behind', () => {
  test.each<[string, string, PresentFingerprints, string]>([
    ['no rotation', 'old', ['old'], 'old'],
    ['1: the first has the next one', 'old', ['old', 'new'], 'old +new'],
    ['1: one without it starts again', 'old +new', ['old'], 'old +new'],
    ['2: the first uses it', 'old +new', ['new', 'old'], `new -old@${NOW}`],
    ['2: one that is behind starts again', 'new -old@5', ['old', 'new'], `old -new@${NOW}`],
    ['2: and uses it', 'old -new@5', ['new', 'old'], `new -old@${NOW}`],
    ['2: starts again', 'new -old@5', ['new', 'old'], 'new -old@5'],
    ['4: ended', 'new', ['new'], 'new'],
    ['4: ended after a leak', 'new !old', ['new'], 'new !old'],
    ['the next rotation', 'new !old', ['new', 'newer'], 'new +newer !old'],
  ])('%s', (_, kept, present, then) => {
    expect(start(kept, ...present)).toBe(then);
  });
});

describe('no server starts that others would not understand, or that would not understand them', () => {
  test.each<[string, string, PresentFingerprints, RegExp]>([
    ['another one', 'old', ['new'], /not the one/],
    ['others, both', 'old', ['new', 'newer'], /not the one/],
    ['the next one in use before others accept it', 'old', ['new', 'old'], /first start each/],
    ['the next one alone', 'old +new', ['new'], /needs the one that is in use/],
    ['the former one left out too early', 'new -old@5', ['new'], /former one still counts/],
    ['a further one beside a former one', 'new -old@5', ['new', 'newer'], /former one still counts/],
    ['the former one alone', 'new -old@5', ['old'], /needs the one that is in use/],
    ['one that has leaked, accepted', 'new !old', ['new', 'old'], /leaked/],
    ['one that has leaked, in use', 'new !old', ['old', 'new'], /leaked/],
    ['nothing kept', '', ['old'], /not the one/],
  ])('%s', (_, kept, present, because) => {
    expect(start(kept, ...present)).toMatch(because);
  });
});
