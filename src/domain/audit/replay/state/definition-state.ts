import { isHardcoded } from '../../../gate/catalogue.js';
import { checkConnector, type HttpConnector, withoutDefaults } from '../../../gate/connector.js';
import type { CapabilityFacts } from '../../../gate/decide.js';
import { definitionDigest } from '../../../gate/definition-digest.js';
import { checkInputSchema } from '../../../gate/input-schema.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../json.js';
import { type OpenEntry, text } from '../../entry/open-entry.js';
import { hasCanonicalForm } from '../../entry/jcs.js';

/** `erased`: part of it is, so its digest is all that is known; of one that is unknown, not even that. */
export type DefinitionState = { readonly facts: CapabilityFacts; readonly isErased: boolean; readonly isUnknown?: boolean };

/** What an entry defines. What is no schema and no connector counts as erased: nobody can tell what it was. */
export function definitionOf({ stored, metadata, erased }: OpenEntry): DefinitionState {
  const name = stored.capability ?? '';
  const isLost = erased.has('inputSchema') || erased.has('connector');
  const [inputSchema, connector] = isLost ? [] : [schemaIn(metadata['inputSchema']), connectorIn(metadata['connector'])];
  if (inputSchema === undefined || connector === undefined) {
    return { facts: { name, hardcoded: isHardcoded(name), digest: text(metadata, 'definition') ?? '' }, isErased: true };
  }
  const content = { ...(inputSchema ? { inputSchema } : {}), ...(connector ? { connector } : {}) };
  return { facts: { name, hardcoded: isHardcoded(name), digest: definitionDigest(content), ...content }, isErased: false };
}

// What the routes refuse no server has ever written, and it could be more than anybody can evaluate: a schema whose references double the
// work at each step, say. Whoever makes the routes stricter leaves here what older entries may hold.

/** Null where it says nothing of one, undefined where it is none. */
export function schemaIn(value: JsonValue | undefined): JsonObject | null | undefined {
  if (value === undefined) return null;
  return isJsonObject(value) && hasCanonicalForm(value) && checkInputSchema(value).ok ? value : undefined;
}

/** The same of a connector, which is stored with all defaults. */
export function connectorIn(value: JsonValue | undefined): HttpConnector | null | undefined {
  if (value === undefined) return null;
  const isOne = isJsonObject(value) && hasCanonicalForm(value) && checkConnector(withoutDefaults(value)).ok;
  return isOne ? (value as unknown as HttpConnector) : undefined;
}
