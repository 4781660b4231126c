import { createRequire } from 'node:module';
import type * as AdaptiveCards from 'adaptivecards';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/domain/json.js';

// The package's modules for browsers cannot be loaded by Node; the bundle can.
const cards = createRequire(import.meta.url)('adaptivecards/dist/adaptivecards.js') as typeof AdaptiveCards;

/** What Microsoft's own reader finds wrong with a card of version 1.4. */
export function cardFindings(content: JsonObject): string[] {
  const card = new cards.AdaptiveCard();
  const context = new cards.SerializationContext(cards.Versions.v1_4);
  card.parse(content, context);
  const parsed = Array.from({ length: context.eventCount }, (_, at) => context.getEventAt(at).message);
  return [...parsed, ...card.validateProperties().validationEvents.map(({ message }) => message)];
}

/** Elements of a card whose text is read as Markdown. */
export function markdownIn(value: JsonValue): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => markdownIn(one as JsonValue));
  if (!isJsonObject(value)) return [];
  const own = value['type'] === 'TextBlock' || value['type'] === 'FactSet' ? [JSON.stringify(value)] : [];
  return [...own, ...Object.values(value).flatMap((one) => (one === undefined ? [] : markdownIn(one)))];
}

/** What text runs of a card say, each on its own. */
export function runsIn(value: JsonValue): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => runsIn(one as JsonValue));
  if (!isJsonObject(value)) return [];
  if (value['type'] === 'TextRun') return [value['text'] as string];
  return Object.values(value).flatMap((one) => (one === undefined ? [] : runsIn(one)));
}
