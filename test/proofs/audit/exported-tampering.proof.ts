import fc from 'fast-check';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { verify as Verify } from '../../../verifier/verify.mjs';
import { exportOf, linesOf, seal, type ExportOptions, type Line } from '../../support/verifier/export-maker.js';
import type { Proof } from '../../support/proofs/proof.js';
import { rehashed } from '../../support/verifier/verifier-cases.js';
import { scenario } from '../../support/verifier/verifier-scenario.js';

/** Vouched for by the manifest alone, which is made anew here. */
const FREE = new Set(['madeAt', 'keys', 'from', 'to', 'agentId', 'userId', 'what'].map((name) => `export.${name}`));
const LEFT = new Set(['profile', 'records', 'manifest']);

/** Something else of the same kind in the place of a value. */
function other(value: unknown, n: number): unknown {
  if (typeof value === 'number') return value + 1 + (n % 3);
  if (typeof value === 'boolean') return !value;
  if (value === null) return n % 2 ? 'x' : 0;
  if (Array.isArray(value)) return value.length === 0 ? ['x'] : value.slice(1);
  if (typeof value === 'object') return Object.fromEntries(Object.entries(value as object).map(([name, one]) => [name, other(one, n)]));
  const text = value as string;
  const at = text.length === 0 ? 0 : n % text.length;
  return text.slice(0, at) + (text[at] === 'a' ? 'b' : 'a') + text.slice(at + 1);
}

/** Whether two lines may change places: the order of heads, of checkpoints, and of young entries of different chains says nothing. */
function mayBeSwapped(one: Line, two: Line): boolean {
  if (one.kind !== two.kind || one['organizationId'] !== two['organizationId']) return false;
  if (one.kind === 'entry') return one['index'] === null && two['index'] === null && one['chain'] !== two['chain'];
  return ['head', 'checkpoint', 'sweep', 'seam', 'consistency'].includes(one.kind);
}

interface Alteration {
  readonly sort: number;
  readonly bytes: boolean;
  readonly alter: number;
  readonly at: number;
  readonly n: number;
}

function tamper(lines: readonly Line[], { alter, at: any, n }: Alteration): Line[] | undefined {
  const at = any % lines.length;
  const line = lines[at]!;
  const members = Object.keys(line).filter((one) => one !== 'kind' && !FREE.has(`${line.kind}.${one}`));
  const member = members[n % members.length]!;
  const next = (at + 1 + (n % (lines.length - 1))) % lines.length;
  const changed = { ...line, [member]: other(line[member], n) };
  if (LEFT.has(line.kind)) return undefined;
  if (alter === 0) return lines.filter((_, place) => place !== at);
  if (alter === 1) return line.kind === 'consistency' ? undefined : [...lines.slice(0, at), line, ...lines.slice(at)];
  if (alter === 2) {
    const moved = lines.map((one, place) => (place === at ? lines[next]! : place === next ? line : one));
    return mayBeSwapped(line, lines[next]!) || LEFT.has(lines[next]!.kind) ? undefined : moved;
  }
  // The last entry that a window shows of a chain is not its end: heads say nothing there.
  if (line.kind === 'head' && lines.some((one) => one['because'] === 'range')) return undefined;
  return lines.map((one) => (one === line ? (alter === 3 && line.kind === 'entry' ? rehashed(changed) : changed) : one));
}

function spoil(file: string, { alter, at: any, n }: Alteration): string {
  const at = any % (file.length - 1);
  const character = String.fromCharCode(32 + (n % 95));
  const twice = file.slice(at, at + 300) + file.slice(at);
  const rests = [character + file.slice(at + 1), character + file.slice(at), file.slice(at + 1), file.slice(at + 50), twice];
  return file.slice(0, at) + rests[alter]!;
}

/**
 * Exports of every sort, tampered with at random: bytes of the file, or what it says behind a manifest made anew, as a service
 * would write it whose database was tampered with. And those nobody touched.
 */
export const proof: Proof = {
  name: 'exported-tampering',
  title: 'The stand-alone verifier finds whatever was done to an export, and nothing where nothing was done.',
  longCount: 5_000,
  shortCount: 150,
  needs: 'nothing',
  run: async ({ count, seed, progress }) => {
    const { verify } = (await import(pathToFileURL(join(process.cwd(), 'verifier', 'verify.mjs')).href)) as { verify: typeof Verify };
    const made = scenario(5);
    const blanked = made.log.entries.find((one) => one.event === 'hitl.rejected' && one.chain === 'agt_2')!;
    made.erase('org_a', made.blank(blanked, '/metadata/comment'));
    const cuts = made.sweep('org_a', 14, { agt_1: 4, sys_org_a: 2 });
    const sorts: ExportOptions[] = [
      { cuts }, { anchored: (_, leaves) => Math.max(0, leaves - 4) }, { range: [4, 15] }, { agentId: 'agt_2', organizations: ['org_a'] },
      { what: 'person', shows: ({ seq }) => seq % 2 === 0 }, { anchored: () => 0 },
    ];
    const coverage = { bytes: 0, meaning: 0, untouched: 0 };
    const alterations = fc.record({
      sort: fc.nat(sorts.length - 1), bytes: fc.boolean(), alter: fc.nat(4), at: fc.nat(), n: fc.nat(10_000),
    });
    for (const [index, alter] of fc.sample(alterations, { seed, numRuns: count }).entries()) {
      progress(index);
      const options = sorts[alter.sort]!;
      const [good, lines] = [exportOf(made.log, options), linesOf(made.log, options)];
      const isLeft = index % 20 === 0;
      const changed = isLeft || alter.bytes ? undefined : tamper(lines, alter);
      const touched = isLeft ? undefined : alter.bytes ? spoil(good.join('\n'), alter).split('\n') : changed && seal(changed);
      const isSame = touched === undefined || touched.join('\n') === good.join('\n');
      coverage[isSame ? 'untouched' : alter.bytes ? 'bytes' : 'meaning']++;
      const { verdict, breaks } = await verify(isSame ? good : touched);
      if ((verdict === 'tampered') === isSame) {
        const counterexample = `${verdict} after ${JSON.stringify(alter)}: ${JSON.stringify(breaks).slice(0, 500)}`;
        return { checked: index + 1, counterexample, coverage };
      }
    }
    return { checked: count, coverage };
  },
};
