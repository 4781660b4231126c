import { builtIn, isHardcoded } from '../../../gate/catalogue.js';
import { checkConnector, type Connector, withoutDefaults } from '../../../gate/connector.js';
import type { CapabilityFacts } from '../../../gate/decide.js';
import { definitionDigest } from '../../../gate/definition-digest.js';
import { checkInputSchema } from '../../../gate/input-schema.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../json.js';
import { type OpenEntry, text } from '../../entry/open-entry.js';
import { hasCanonicalForm } from '../../entry/jcs.js';

/** Of a definition that is erased in part only the digest is known; of an unknown one, not even that. */
export type DefinitionState = { readonly facts: CapabilityFacts; readonly isErased: boolean; readonly isUnknown?: boolean };

/** The definition in an entry. A schema or a connector that is none counts as erased. */
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

// No server has written a value that the routes refuse, and evaluating one could take for ever: a schema whose references double the work
// at each step, for instance. When the routes become stricter, these keep the bounds of older entries.

/** Null where there is no value, undefined for a value that is no schema. */
export function schemaIn(value: JsonValue | undefined): JsonObject | null | undefined {
  if (value === undefined) return null;
  return isJsonObject(value) && hasCanonicalForm(value) && checkInputSchema(value).ok ? value : undefined;
}

/** The same for a connector, which is stored with all defaults. */
export function connectorIn(value: JsonValue | undefined): Connector | null | undefined {
  if (value === undefined) return null;
  const isOne = isJsonObject(value) && hasCanonicalForm(value) && checkConnector(withoutDefaults(value)).ok;
  return isOne ? (value as unknown as Connector) : undefined;
}

/** The definition of a capability that the organization has not defined. */
export function catalogueDefinition(capability: string): DefinitionState | undefined {
  const entry = builtIn(capability);
  return entry && { facts: { name: capability, hardcoded: entry.hardcoded, digest: definitionDigest({}) }, isErased: false };
}
