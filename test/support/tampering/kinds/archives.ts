import { ArchiveStore } from '../../../../src/platform/audit/archive-store.js';
import { disclosuresName, skeletonName } from '../../../../src/modules/audit/retention/archives/archive-names.js';
import { spoilt } from '../altered-entry.js';
import type { Random } from '../random.js';

/** One way to alter an archive: its objects by name, line by line. */
export interface Altering {
  readonly name: string;
  readonly tamper: (lines: readonly string[], random: Random) => readonly string[] | undefined;
  readonly object: { isOf: (name: string) => boolean };
}

const anyLine = (tamper: (line: string, random: Random) => string[]) => (lines: readonly string[], random: Random) => {
  const at = random.below(lines.length);
  return lines.flatMap((line, n) => (n === at ? tamper(line, random) : [line]));
};

const ALTERATIONS: readonly (readonly [string, Altering['tamper']])[] = [
  ['a character', anyLine((line, random) => [spoilt(line, random)])],
  ['a line taken out', anyLine(() => [])],
  ['a line twice', anyLine((line) => [line, line])],
  ['its end cut off', (lines, random) => lines.slice(0, random.below(lines.length))],
  ['two lines that changed places', (lines, random) => {
    if (lines.length < 2) return undefined;
    const [one, other] = random.two(lines.map((_, n) => n));
    return lines.map((line, n) => (n === one ? lines[other]! : n === other ? lines[one]! : line));
  }],
];

export const ALTERINGS: readonly Altering[] = [
  ...ALTERATIONS.map(([name, tamper]) => ({ name: `archive, its skeleton: ${name}`, tamper, object: skeletonName })),
  ...ALTERATIONS.map(([name, tamper]) => ({ name: `archive, its values: ${name}`, tamper, object: disclosuresName })),
  { name: 'archive, its values: one of another text', object: disclosuresName, tamper: anyLine((line, random) => [line.replace(
    /\\"value\\":\\"(?!\\\\\\"\[erased)/, (found) => `${found}${random.text(1)}`)]) },
];

/** An archive in which one object reads otherwise. */
export class AlteredArchive extends ArchiveStore {
  constructor(
    private readonly kept: ArchiveStore,
    private readonly altered: string,
    private readonly lines: readonly string[],
  ) {
    super();
  }

  async *read(name: string): AsyncGenerator<string> {
    if (name !== this.altered) yield* this.kept.read(name);
    else for (const line of this.lines) yield await Promise.resolve(line);
  }

  write = () => Promise.reject(new Error('nothing is written'));
  replace = () => Promise.reject(new Error('nothing is written'));
  exists = (name: string) => this.kept.exists(name);
  discard = () => Promise.reject(new Error('nothing is written'));
  check = () => Promise.resolve();
}
