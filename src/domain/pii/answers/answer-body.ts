import type { JsonValue } from '../../json.js';
import { mapTexts } from '../body/map-texts.js';
import { contextOf } from '../body/scan-body.js';
import { ANSWER_SHAPES, type ProviderFamily } from '../body/structural-members.js';
import { countEntity, type EntityCounts } from '../entity-types.js';
import { Redactor } from '../redactor.js';
import { Work } from '../scan.js';
import { scanText } from '../scan-text.js';
import type { PiiSettings } from '../settings.js';
import { restoreTokens, type TokenMap } from './tokens.js';

export interface ReadAnswer {
  /** What the client gets. */
  readonly body: JsonValue;
  /** What the model wrote of its own, the values behind tokens not counted. */
  readonly counts: EntityCounts;
}

/**
 * Does to a whole answer what the settings say, then gives values back in the place of tokens: in texts, and in the arguments of tools.
 *
 * @param work with a limit, an answer that needs more is given up
 * @throws WorkLimit
 */
export function readAnswer(
  body: JsonValue, family: ProviderFamily, settings: PiiSettings, tokens: TokenMap, work = new Work(),
): ReadAnswer {
  const counts: EntityCounts = {};
  const redactor = new Redactor('redact');
  const { answers, entities, allow, terms } = settings;
  const mapped = mapTexts(body, ANSWER_SHAPES[family], (text, location) => {
    if (answers === 'off') return restoreTokens(text, tokens);
    const findings = scanText(text, { entities, allow, terms, context: contextOf(location) }, work);
    for (const { type } of findings) countEntity(counts, type);
    return restoreTokens(answers === 'redact' ? redactor.redact(text, findings) : text, tokens);
  });
  return { body: mapped.body, counts };
}
