import type { ProblemCode } from '../../../domain/problems.js';
import { given } from '../../../domain/given.js';
import { textIs } from '../../../platform/http/fields/field-checks.js';
import { DIGEST } from '../../hitl/hitl.dto.js';
import { DECISIONS, type DecisionWord, NOTE_MAX } from './decision-form.js';

/** What a form asks for, as the service of decisions takes it. */
export interface WantedDecision {
  readonly word: DecisionWord;
  readonly expectedDigest: string;
  readonly note?: string;
  readonly breakGlass?: boolean;
}

/** Refusals of a decision that the page of the request tells in words, above what stands now. */
export const REFUSED_IN_WORDS: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'STOPPED', 'NOT_ELIGIBLE', 'SELF_APPROVAL', 'FORBIDDEN', 'REASON_REQUIRED', 'CONFLICT', 'HITL_ALREADY_DECIDED', 'HITL_EXPIRED',
  'HITL_DIGEST_MISMATCH', 'NOT_EXECUTABLE', 'UNAVAILABLE',
]);

/** The fields of a form that decides. A form that was sent back as it came chooses nothing. */
export function readDecision(fields: Readonly<Record<string, string>>): WantedDecision | { readonly problem: string } {
  const { decision, digest, breakGlass } = fields;
  const word = DECISIONS.find((one) => one === decision);
  if (word === undefined) return { problem: 'Choose whether to approve or to reject. Nothing is decided yet.' };
  if (digest === undefined || !DIGEST.test(digest)) return { problem: 'The form does not say what you were shown. Look at it again.' };
  // Browsers send line breaks as CR LF.
  const note = (fields['note'] ?? '').replaceAll('\r\n', '\n').trim();
  if (!textIs(note, { max: NOTE_MAX }) || note.includes('\0')) return { problem: `A note has at most ${NOTE_MAX} characters.` };
  return { word, expectedDigest: digest, ...given({ note: note || undefined, breakGlass: breakGlass === 'true' || undefined }) };
}
