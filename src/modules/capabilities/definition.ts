import type { Connector } from '../../domain/gate/connector.js';
import { CATALOGUE, isHardcoded } from '../../domain/gate/catalogue.js';
import type { CapabilityFacts } from '../../domain/gate/decide.js';
import { definitionDigest } from '../../domain/gate/definition-digest.js';
import type { HitlMode } from '../../domain/gate/vocabulary.js';
import type { JsonObject } from '../../domain/json.js';
import type { CapabilityDefinitionEntity } from './capability-definition.entity.js';

/** A capability as an organization sees it: the catalogue's, with what the organization laid over it, or its own. */
export interface Definition {
  readonly name: string;
  readonly custom: boolean;
  readonly category: string;
  readonly description: string;
  readonly defaultHitlMode: HitlMode;
  readonly hardcoded: boolean;
  readonly riskScore: number;
  readonly inputSchema: JsonObject | null;
  readonly connector: Connector | null;
  readonly digest: string;
}

const PLAIN_DIGEST = definitionDigest({});
const builtIn = new Map<string, Definition>(
  CATALOGUE.map((entry) => [
    entry.name,
    { ...entry, custom: false, hardcoded: isHardcoded(entry.name), inputSchema: null, connector: null, digest: PLAIN_DIGEST },
  ]),
);

/** The effective definition: the organization's row for the name, if there is one, over the catalogue's. */
export function definitionFrom(name: string, row: CapabilityDefinitionEntity | null | undefined): Definition | undefined {
  const base = builtIn.get(name);
  if (!row) return base;
  return {
    name,
    custom: row.custom,
    category: row.category,
    description: row.description,
    defaultHitlMode: row.defaultHitlMode,
    hardcoded: isHardcoded(name),
    riskScore: row.riskScore,
    inputSchema: row.inputSchema,
    connector: row.connector,
    digest: row.digest,
  };
}

/** Everything in the catalogue and of the organization, by name. */
export function allDefinitions(rows: readonly CapabilityDefinitionEntity[]): Definition[] {
  const byName = new Map(rows.map((row) => [row.name, row]));
  const names = [...builtIn.keys(), ...rows.map((row) => row.name).filter((name) => !builtIn.has(name)).sort()];
  return names.map((name) => definitionFrom(name, byName.get(name))!);
}

export function isBuiltIn(name: string): boolean {
  return builtIn.has(name);
}

/** What the gate's decision needs of a definition. */
export function factsOf(definition: Definition): CapabilityFacts {
  const { name, hardcoded, digest, inputSchema, connector } = definition;
  return { name, hardcoded, digest, ...(inputSchema ? { inputSchema } : {}), ...(connector ? { connector } : {}) };
}
