import { isHardcoded } from '../../gate/catalogue.js';
import type { HttpConnector } from '../../gate/connector.js';
import type { CapabilityFacts } from '../../gate/decide.js';
import { definitionDigest } from '../../gate/definition-digest.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../json.js';
import { type OpenEntry, text } from './open-entry.js';
import { hasCanonicalForm } from './shown-text.js';

/** `erased`: part of it is, so its digest is all that is known; of one that is unknown, not even that. */
export type DefinitionView = { readonly facts: CapabilityFacts; readonly isErased: boolean; readonly isUnknown?: boolean };

/** What an entry defines. What is no schema and no connector counts as erased: nobody can tell what it was. */
export function definitionOf({ stored, metadata, erased }: OpenEntry): DefinitionView {
  const name = stored.capability ?? '';
  const [inputSchema, connector] = [schemaIn(metadata['inputSchema']), connectorIn(metadata['connector'])];
  const isErased = erased.has('inputSchema') || erased.has('connector') || inputSchema === undefined || connector === undefined;
  if (isErased) return { facts: { name, hardcoded: isHardcoded(name), digest: text(metadata, 'definition') ?? '' }, isErased };
  const content = { ...(inputSchema ? { inputSchema } : {}), ...(connector ? { connector } : {}) };
  return { facts: { name, hardcoded: isHardcoded(name), digest: definitionDigest(content), ...content }, isErased };
}

/** Null where it says nothing of one, undefined where it is none. */
export function schemaIn(value: JsonValue | undefined): JsonObject | null | undefined {
  if (value === undefined) return null;
  return isJsonObject(value) && hasCanonicalForm(value) ? value : undefined;
}

/** The same of a connector: that it can be filled in. */
export function connectorIn(value: JsonValue | undefined): HttpConnector | null | undefined {
  if (value === undefined) return null;
  if (!isJsonObject(value) || !hasCanonicalForm(value)) return undefined;
  const { url, method, query = {}, headers = {} } = value;
  const isFilled = typeof url === 'string' && typeof method === 'string' && isJsonObject(query) && isJsonObject(headers);
  const areTexts = isFilled && Object.values(headers).every((one) => typeof one === 'string');
  return areTexts && Object.values(query).every((one) => typeof one !== 'object') ? (value as unknown as HttpConnector) : undefined;
}
