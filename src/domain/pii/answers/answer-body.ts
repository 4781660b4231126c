import { isJsonObject, type JsonValue } from '../../json.js';
import { mapTexts, type VisitText } from '../body/map-texts.js';
import { findingsIn } from '../body/scan-body.js';
import { ANSWER_SHAPES, type ProviderFamily } from '../body/structural-members.js';
import { countEntity, type EntityCounts } from '../entity-types.js';
import { Redactor } from '../redactor.js';
import { Work } from '../scan.js';
import type { PiiSettings } from '../settings.js';
import { restoreTokens, type TokenMap } from './tokens.js';

/** What the settings say of answers. */
export type AnswerSettings = Pick<PiiSettings, 'answers' | 'entities' | 'allow' | 'terms'>;

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
  const mapped = mapTexts(body, ANSWER_SHAPES[family], readerOf(settings, tokens, counts, work));
  return { body: settings.answers === 'redact' ? withoutLogprobs(mapped.body) : mapped.body, counts };
}

/** Reads the texts of an answer, or of a part of one. @param counts gets what is found */
export function readerOf(settings: AnswerSettings, tokens: TokenMap, counts: EntityCounts, work = new Work()): VisitText {
  const redactor = new Redactor('redact');
  const { answers, entities, allow, terms } = settings;
  return (text, location) => {
    if (answers === 'off') return restoreTokens(text, tokens);
    const findings = findingsIn(text, location, { entities, allow, terms }, work);
    for (const { type } of findings) countEntity(counts, type);
    return restoreTokens(answers === 'redact' ? redactor.redact(text, findings) : text, tokens);
  };
}

/** They repeat a choice's text, word by word. */
function withoutLogprobs(body: JsonValue): JsonValue {
  const choices = isJsonObject(body) ? body['choices'] : undefined;
  if (!isJsonObject(body) || !Array.isArray(choices)) return body;
  const without = (choice: JsonValue) => (isJsonObject(choice) && 'logprobs' in choice ? { ...choice, logprobs: null } : choice);
  return { ...body, choices: choices.map(without) };
}
