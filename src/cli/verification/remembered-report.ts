import { PLATFORM_TREE } from '../../domain/audit/notes/checkpoint.js';
import type { RecalledFound, RecalledMember } from '../../domain/audit/export/superseded/recalled-checkpoints.js';
import type { Verification } from '../../modules/audit/verification/verification-result.js';
import type { LogLocation } from './log-location.js';

const LISTED = 10;

/** What a file shows of the checkpoints that are remembered; nothing where none is, or what was read is no file. */
export function rememberedReport(outcome: Verification): string[] {
  const found = foundIn(outcome);
  const continued = found.filter(({ state }) => state === 'continued');
  const unproven = found.filter(({ state }) => state === 'unproven');
  const more = unproven.length - LISTED;
  const leaves = (size: number) => `${size.toLocaleString('en')} ${size === 1 ? 'leaf' : 'leaves'}`;
  return [
    ...(continued.length > 0 ? [`goes on from what is remembered: ${listed(continued)}`] : []),
    ...unproven.slice(0, LISTED).map(({ origin, size, ask }) => `not compared with the remembered checkpoint ${origin} of ${leaves(size)}: `
      + (ask === undefined ? 'no file of this kind can show that it goes on' : `an export with ${ask} shows whether it goes on`)),
    ...(more > 0 ? [`nor with ${more.toLocaleString('en')} others`] : []),
  ];
}

/**
 * What a file was to prove and did not: of organizations, in each file that could; of the platform's tree, where a server was asked for
 * the proof, since a file has it only where somebody asked.
 */
export function unprovenIn(outcome: Verification, kind: LogLocation['kind']): RecalledFound[] {
  return foundIn(outcome).filter(({ origin, state, ask }) =>
    state === 'unproven' && ask !== undefined && (kind === 'server' || !origin.endsWith(`/${PLATFORM_TREE}`)));
}

export function notProven(unproven: readonly RecalledFound[], kind: LogLocation['kind']): string {
  const asked = unproven.slice(0, LISTED).map(({ ask }) => ask!).join(', or ');
  const whence = kind === 'server' ? 'the server did not show' : 'the file does not show';
  return `${whence} that the history goes on from what is remembered (${listed(unproven)}), which stays as it was: verify an export with `
    + `${asked} (countersign audit export), or the database; --no-remember compares with nothing`;
}

function foundIn({ members }: Verification): readonly RecalledFound[] {
  return (members as unknown as Partial<RecalledMember>).remembered ?? [];
}

function listed(found: readonly RecalledFound[]): string {
  const more = found.length - LISTED;
  const shown = found.slice(0, LISTED).map(({ origin, size }) => `${origin} at ${size}`).join(', ');
  return more > 0 ? `${shown} and ${more.toLocaleString('en')} more` : shown;
}
