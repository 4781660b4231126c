import type { JsonValue } from '../../json.js';
import type { Finding, ScanOptions } from '../finding.js';
import { scanEscaped } from '../escapes.js';
import { Work } from '../scan.js';
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
 * Finds personal data and secrets in a call's body: in every text but those of structural members (`structural-members.ts`), and outside
 * of the format's own members in numbers and names of members too. The names of the members around a text and short texts before it are its
 * context.
 */
export function scanBody(body: JsonValue, family: ProviderFamily, options: ScanOptions = {}, work = new Work()): ScannedBody {
  const found: FoundText[] = [];
  const { unscanned } = mapTexts(body, REQUEST_SHAPES[family], (text, location) => {
    const findings = scanEscaped(text, { ...options, context: location.context }, work);
    if (findings.length > 0) found.push({ ...location, findings });
    return text;
  });
  return { found, unscanned };
}
