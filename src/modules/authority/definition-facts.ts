import type { CapabilityFacts } from '../../domain/gate/decide.js';
import { definitionDigest } from '../../domain/gate/definition-digest.js';
import type { Connector } from '../../domain/gate/connector.js';
import type { JsonObject } from '../../domain/json.js';
import { definitionFrom, factsOf } from '../capabilities/definition.js';

/** Columns of a definition among those of the facts. */
export interface DefinitionColumns {
  readonly defined: boolean;
  readonly input_schema: JsonObject | null;
  readonly connector: Connector | null;
}

const builtInFacts = new Map<string, CapabilityFacts>();

/** What the gate has to know of a capability: by the organization's own row, else by the catalogue; undefined where there is none. */
export function definitionOf(row: DefinitionColumns, capability: string): CapabilityFacts | undefined {
  if (row.defined) {
    const base = definitionFrom(capability, undefined);
    const content = {
      ...(row.input_schema ? { inputSchema: row.input_schema } : {}),
      ...(row.connector ? { connector: row.connector } : {}),
    };
    // From what the row holds, not from a digest beside it: whoever edits the one by SQL would leave the other.
    return { name: capability, hardcoded: base?.hardcoded ?? false, digest: definitionDigest(content), ...content };
  }
  let facts = builtInFacts.get(capability);
  if (!facts) {
    const definition = definitionFrom(capability, undefined);
    if (!definition) return undefined;
    facts = factsOf(definition);
    builtInFacts.set(capability, facts);
  }
  return facts;
}
