import { type AuditEventType, EVENTS, isAuditEventType } from '../../../domain/audit/catalogue/audit-events.js';
import { isAgentChain } from '../../../domain/audit/entry/chain.js';
import type { AuditListQuery } from '../audit.dto.js';
import type { PageQuery } from '../../../platform/http/fields/pagination.js';
import { given } from '../../../domain/given.js';
import type { EventDefinition } from '../../../domain/audit/catalogue/event-definition.js';

/** As callers give it; both times inclusive. */
export type AuditFilter = Omit<AuditListQuery, keyof PageQuery>;

/** A filter as the indexes know it. */
export interface Selection {
  /** Event types that may be found, where not every one may; each has its outcome, and a capability or none, by the catalogue. */
  readonly events?: readonly AuditEventType[];
  readonly capability?: string;
  /** An agent's chain: its entries come in their order. */
  readonly chain?: string;
  /** In that chain, only what its agent did itself. */
  readonly byAgent?: true;
  /** Who made the entry, or whom it is about. */
  readonly user?: string;
  /** One who is so too, where `user` is somebody else. */
  readonly reader?: string;
  /** As stored, both inclusive. */
  readonly from?: string;
  readonly to?: string;
}

const DEFINITIONS = Object.entries(EVENTS) as [AuditEventType, EventDefinition][];

/**
 * @param agentId of a reader who sees no other agent's entries
 * @param onlyOf the reader, where a reader may see only entries that they made or that are about them
 * @returns undefined where no entry can fit: the catalogue says so, or two people are asked for that are one
 */
export function selectionOf(filter: AuditFilter, agentId?: string, onlyOf?: string): Selection | undefined {
  const events = eventsOf(filter);
  if (events?.length === 0) return undefined;
  const { userId, capability } = filter;
  // What an agent does itself stands in its own chain.
  const actsItself = userId !== undefined && isAgentChain(userId) && (filter.agentId ?? userId) === userId;
  const chains = [filter.agentId, agentId, ...(actsItself ? [userId] : [])].filter((one) => one !== undefined);
  const [chain] = chains;
  if (chains.some((one) => one !== chain || !isAgentChain(one))) return undefined;
  const [user, reader] = [...new Set([actsItself ? undefined : userId, onlyOf].filter((one) => one !== undefined))];
  const [from, to] = [filter.from?.toISOString(), filter.to?.toISOString()];
  return given({ events, capability, chain, byAgent: actsItself ? (true as const) : undefined, user, reader, from, to });
}

function eventsOf({ event, outcome, capability }: AuditFilter): AuditEventType[] | undefined {
  if (event === undefined && outcome === undefined && capability === undefined) return undefined;
  if (event !== undefined && !isAuditEventType(event)) return [];
  return DEFINITIONS
    .filter(([type, definition]) => (event === undefined || type === event) && (capability === undefined || definition.capability))
    .filter(([, definition]) => outcome === undefined || definition.outcome === outcome
      || (outcome === 'success' && definition.outcome === 'executed'))
    .map(([type]) => type);
}
