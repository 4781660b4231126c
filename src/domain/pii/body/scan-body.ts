import { madeOnce } from '../../collections.js';
import type { JsonValue } from '../../json.js';
import { ENTITY_TYPES, type EntityType } from '../entity-types.js';
import { scanEscaped } from '../escapes.js';
import type { Finding, ScanOptions } from '../finding.js';
import { Work } from '../scan.js';
import { scanText } from '../scan-text.js';
import { mapTexts, type TextLocation } from './map-texts.js';
import { REQUEST_SHAPES, type ProviderFamily } from './structural-members.js';

/** A text in which something was found. */
export interface FoundText extends TextLocation {
  readonly findings: readonly Finding[];
}

export interface ScannedBody {
  /** In the order of the body; texts without a finding are left out. */
  readonly found: readonly FoundText[];
  /** Images, sound, files, and what is not known to be text, which nobody has read. */
  readonly unscanned: number;
}

/**
 * Finds personal data and secrets in a call's body: in every text, number and name of a member but the format's own
 * (`structural-members.ts`), and in its names and ids what is sure. The names of the members around a text and short texts before it are
 * its context.
 */
export function scanBody(body: JsonValue, family: ProviderFamily, options: ScanOptions = {}, work = new Work()): ScannedBody {
  const found: FoundText[] = [];
  const { unscanned } = mapTexts(body, REQUEST_SHAPES[family], (text, location) => {
    const findings = findingsIn(text, location, options, work);
    if (findings.length > 0) found.push({ ...location, findings });
    return text;
  });
  return { found, unscanned };
}

/** What an identifier may be instead: it has a form or a checksum of its own. */
const SURE: ReadonlySet<EntityType> = new Set(['CREDIT_CARD', 'IBAN_CODE', 'SECRET', 'US_SSN']);
const sureOf = madeOnce((entities: readonly EntityType[]): readonly EntityType[] => entities.filter((type) => SURE.has(type)));
const SURE_SCORE = 0.9;
const IDENTIFIER_MAX = 256;

/** What a text of a body holds, by where it stands. @throws WorkLimit */
export function findingsIn(text: string, location: Omit<TextLocation, 'ordinal'>, options: ScanOptions, work: Work): readonly Finding[] {
  const { context, kind, isIdentifier = false } = location;
  if (!isIdentifier) return scanEscaped(text, { ...options, context, isName: kind === 'name' }, work);
  // Whatever is sure has a digit.
  if (!/\d/.test(text)) return [];
  const entities = sureOf(options.entities ?? ENTITY_TYPES);
  const found = scanText(text, { ...options, terms: [], entities, context, isName: true }, work)
    .filter(({ type, score }) => type === 'US_SSN' || score >= SURE_SCORE);
  if (found.length > 0 || text.length > IDENTIFIER_MAX || !entities.includes('IBAN_CODE')) return found;
  // `gpt-DE89370400440532013000`: marks join the parts of a name.
  return scanText(text.replace(/[^A-Za-z0-9]/g, ' '), { ...options, terms: [], entities: ['IBAN_CODE'] }, work);
}
