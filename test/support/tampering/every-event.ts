import { EVENTS } from '../../../src/domain/audit/catalogue/audit-events.js';
import { SHARED_EVENTS } from '../../../src/domain/audit/replay/state/shared-facts.js';
import { isAgentChain, organizationChain, PLATFORM_ORGANIZATION, type ChainRef } from '../../../src/domain/audit/entry/chain.js';
import { prepareEntry, type PreparedEntry, type RecordedEvent, type Via } from '../../../src/domain/audit/entry/prepare-entry.js';
import type { EventDefinition, Member } from '../../../src/domain/audit/catalogue/event-definition.js';
import { newId } from '../../../src/domain/ids.js';
import type { JsonValue } from '../../../src/domain/json.js';
import type { Random } from './random.js';

/** These say something about the log itself: the story and the sweeps make them. */
const OF_THE_LOG = new Set([
  'agent.registered', 'agent.transferred', 'gdpr.erasure_executed', 'admin.audit_retention_sweep', 'admin.signing_key_rotated',
  'admin.recovered',
]);
const DEFINITIONS = Object.entries(EVENTS as Readonly<Record<string, EventDefinition>>).filter(([type]) => !OF_THE_LOG.has(type));

/** So many entries after each other are of one execution and its request, the last of them ends both. */
const OF_ONE_EXECUTION = 8;
const VIAS: readonly Via[] = ['rest', 'mcp', 'page', 'chat', 'cli', 'worker', 'sweeper'];

/** The next entry of a chain, of any type that may stand there, with whatever the catalogue lets it carry. */
export function anyEntry(chain: ChainRef, n: number, random: Random): PreparedEntry {
  const isAgents = isAgentChain(chain.chain);
  // What is said there holds for every organization: a stop of everything would make the gate wrong in the story, and rightly so.
  const isForAll = (type: string) => chain.organizationId === PLATFORM_ORGANIZATION && SHARED_EVENTS.includes(type as never);
  const fits = ([type, { chain: wanted }]: readonly [string, EventDefinition]) => !isForAll(type) && (
    wanted === 'agent_or_organization' || (isAgents ? wanted === 'agent'
      : wanted === 'organization' || (wanted === 'platform' && chain.organizationId === PLATFORM_ORGANIZATION)));
  const isLast = isAgents && n % OF_ONE_EXECUTION === OF_ONE_EXECUTION - 1;
  const [type, definition] = isLast ? (['execution.cancelled', EVENTS['execution.cancelled'] as EventDefinition] as const)
    : random.of(DEFINITIONS.filter(fits));
  const execution = `${chain.chain.slice(-12)}_${Math.floor(n / OF_ONE_EXECUTION)}`;
  const metadata: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(definition.members)) {
    if (member.optional && random.chance(0.4)) continue;
    metadata[name] = name === 'executionId' ? `exec_${execution}` : name === 'hitlId' ? `hitl_${execution}` : valueOf(member, random);
  }
  return stamped(chain, { type, metadata, ...(definition.capability ? { capability: `do.${random.text(4)}` } : {}) }, random);
}

export function stamped(chain: ChainRef, event: object, random: Random): PreparedEntry {
  const isAgents = isAgentChain(chain.chain);
  const at = Date.now();
  const recorded = { ...event, chain, ...(isAgents ? { agentId: chain.chain } : {}) } as unknown as RecordedEvent;
  return prepareEntry(recorded, {
    id: newId('audit', at),
    actorId: isAgents && random.chance(0.5) ? chain.chain : random.of(['root', 'system', newId('usr')]),
    // Its clock goes back now and then.
    timestamp: new Date(at - (random.chance(0.2) ? random.below(30_000) : 0)),
    ...(random.chance(0.1) ? {} : { origin: {
      via: random.of(VIAS), requestId: random.text(16), ...(random.chance(0.3) ? { traceId: random.text(32, '0123456789abcdef') } : {}),
      ...(random.chance(0.6) ? { address: `10.0.${random.below(200)}.${random.below(200)}` } : {}),
    } }),
  });
}

export const ownChain = organizationChain;

function valueOf({ kind, flag }: Member, random: Random): JsonValue {
  if (flag) return true;
  if (kind === 'members') {
    return Object.fromEntries(Array.from({ length: 1 + random.below(4) }, (_, n) => [`${random.text(5)}${n}`, anyValue(random, 2)]));
  }
  if (kind === 'plain') return random.of<JsonValue>([random.text(12), random.below(1_000), [random.text(6)], { [random.text(4)]: 1 }]);
  return anyValue(random, 2);
}

function anyValue(random: Random, depth: number): JsonValue {
  const simple = random.of<() => JsonValue>([
    () => random.text(10), () => `Ünïcode ${random.text(5)} "\n`, () => random.below(2_000), () => random.next() * 100, () =>
      random.chance(0.5),
    () => null, () => '[erased]',
  ]);
  if (depth === 0 || random.chance(0.5)) return simple();
  if (random.chance(0.5)) return Array.from({ length: 1 + random.below(3) }, () => anyValue(random, depth - 1));
  return { [random.text(4)]: anyValue(random, depth - 1), b: simple() };
}
