import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { CHECKOUT } from '../../support/servers/test-run.js';

interface Suite {
  readonly name: string;
  readonly file: string;
}
interface Reason {
  readonly suite: Suite;
  readonly why: string;
}

const script = (name: string) => import(pathToFileURL(join(CHECKOUT, 'scripts/prove', name)).href);
const { suites, suiteNamed } = (await script('suites.mjs')) as { suites(): Suite[]; suiteNamed(word: string): Suite | undefined };
const { SUBJECTS, pathOf } = (await script('subjects.mjs')) as {
  SUBJECTS: Record<string, [number, ...string[]]>; pathOf(part: string): string;
};
const { chosenFor } = (await script('choice.mjs')) as {
  chosenFor(files: readonly string[] | undefined, minutes?: number): { chosen: Reason[]; left: Reason[] };
};
const names = (reasons: readonly Reason[]) => reasons.map(({ suite }) => suite.name);

describe('what npm run prove tries', () => {
  test('every suite has a subject, and every subject is there', () => {
    expect(Object.keys(SUBJECTS).sort()).toEqual(suites().map(({ name }) => name).sort());
    const parts = Object.values(SUBJECTS).flatMap(([, ...paths]) => paths.map(pathOf));
    expect(parts.filter((path) => !existsSync(join(CHECKOUT, path)))).toEqual([]);
    expect(Object.entries(SUBJECTS).filter(([, [seconds, ...paths]]) => !(seconds > 0) || paths.length === 0)).toEqual([]);
  });

  test('a suite is found by its name, and by the end of it where that is one suite\'s', () => {
    expect(suiteNamed('tamper')?.file).toBe('test/proofs/audit/tamper.proof.ts');
    expect(suiteNamed('rollback')?.file).toBe('test/faults/audit/rollback.test.ts');
    expect(suiteNamed('no-such')).toBeUndefined();
  });
});

describe('what a change is a reason to try', () => {
  test('those about the part that it touches, and no others', () => {
    const { chosen, left } = chosenFor(['src/platform/mail/mail-outbox.ts', 'README.md']);
    expect(names(chosen)).toEqual(['faults/servers/slow-mail', 'faults/notifications/slow-receivers']);
    expect(chosen[0]!.why).toBe('src/platform/mail/mail-outbox.ts');
    expect(left).toEqual([]);
    expect(chosenFor(['README.md', 'src/platform/mail/mail.test.ts'])).toEqual({ chosen: [], left: [] });
  });

  test('one that was changed itself comes first', () => {
    const { chosen } = chosenFor(['src/platform/mail/mail-outbox.ts', 'test/faults/audit/leadership.test.ts']);
    expect(names(chosen)).toEqual(['faults/audit/leadership', 'faults/servers/slow-mail', 'faults/notifications/slow-receivers']);
  });

  test('as many as fit into the minutes, the rest is named; without history everything', () => {
    const all = chosenFor(undefined);
    expect(names(all.chosen).sort()).toEqual(suites().map(({ name }) => name).sort());
    const { chosen, left } = chosenFor(undefined, 1);
    expect([...names(chosen), ...names(left)].sort()).toEqual(names(all.chosen).sort());
    expect(chosen.reduce((sum, { suite }) => sum + SUBJECTS[suite.name]![0], 0)).toBeLessThanOrEqual(120);
    expect(left.length).toBeGreaterThan(0);
  });
});
