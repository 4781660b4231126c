import { isRiskLevel, type RiskLevel } from '../../../gate/vocabulary.js';
import { isTexts, type OpenEntry, text, timeIn } from '../../entry/open-entry.js';
import { UNKNOWN, type Unknown } from '../replay-result.js';

/** Tokens and keys of one epoch, as far as the log knows them. */
interface Tokens {
  /** For each capability: until when some token holds it, in milliseconds. */
  readonly until: ReadonlyMap<string, number>;
  /** A token whose capabilities no entry names may hold anything, until then. */
  readonly anyUntil: number;
  /** Keys that are not deleted: until when they are good, in milliseconds. A key names no capabilities. */
  readonly keys: ReadonlyMap<string, number>;
}

/** An agent by its chain. */
export interface AgentState {
  /** Whether its registration, or its state before its transfer, is in the log: else members that nothing has set since are unknown. */
  readonly isKnown: boolean;
  readonly riskLevel: RiskLevel | Unknown;
  readonly status: string | Unknown;
  /** Undefined where they are erased, unreadable or unknown. */
  readonly tags: readonly string[] | undefined;
  readonly ownerId: string | undefined | Unknown;
  readonly teamId: string | undefined | Unknown;
  readonly tokens: Tokens;
}

const NO_TOKENS: Tokens = { until: new Map(), anyUntil: -Infinity, keys: new Map() };

/** Before its registration. */
export const NEW_AGENT: AgentState = {
  isKnown: true, riskLevel: 'limited', status: 'active', tags: [], ownerId: undefined, teamId: undefined, tokens: NO_TOKENS,
};

/** An agent that was removed, or is in another organization. */
export const GONE_AGENT: AgentState = { ...NEW_AGENT, status: 'removed' };

/** An agent of which nothing is left: its tokens may hold anything, until they are revoked. */
export const UNKNOWN_AGENT: AgentState = {
  isKnown: false, riskLevel: UNKNOWN, status: UNKNOWN, tags: undefined, ownerId: UNKNOWN, teamId: UNKNOWN,
  tokens: { until: new Map(), anyUntil: Infinity, keys: new Map() },
};

/** The agent after its transfer, which ends owner, team and tokens. */
export function transferred(agent: AgentState): AgentState {
  return { ...agent, ownerId: undefined, teamId: undefined, tokens: NO_TOKENS };
}

export function agentAfter(agent: AgentState, opened: OpenEntry): AgentState {
  const { stored } = opened;
  switch (stored.event) {
    case 'agent.registered':
      return described(NEW_AGENT, opened);
    case 'agent.updated':
      return described(agent, opened);
    case 'agent.deactivated':
      return { ...agent, status: 'deactivated' };
    case 'agent.activated':
      return { ...agent, status: 'active', tokens: NO_TOKENS };
    case 'agent.removed':
      return { ...agent, status: 'removed', tokens: NO_TOKENS };
    case 'agent.transferred':
      return transferred(agent);
    case 'agent.tokens_revoked':
      return { ...agent, tokens: NO_TOKENS };
    case 'auth.agent_jwt_issued':
    case 'agent.token_refreshed':
      return { ...agent, tokens: withToken(agent.tokens, opened) };
    case 'agent.key_created':
    case 'agent.key_deleted':
      return { ...agent, tokens: { ...agent.tokens, keys: withKey(agent.tokens.keys, opened) } };
    default:
      return agent;
  }
}

/** Whether a token of the agent may have had the capability at that time, or the agent had a key. */
export function mayHaveCredential({ tokens }: AgentState, capability: string, at: number): boolean {
  const { anyUntil, until, keys } = tokens;
  return anyUntil >= at || (until.get(capability) ?? -Infinity) >= at || [...keys.values()].some((end) => end >= at);
}

function described(agent: AgentState, { metadata, erased }: OpenEntry): AgentState {
  const cleared = metadata['cleared'];
  const isCleared = (name: string) => Array.isArray(cleared) && cleared.includes(name);
  const { riskLevel, tags } = metadata;
  return {
    ...agent,
    ...(isRiskLevel(riskLevel) ? { riskLevel } : {}),
    ...(erased.has('tags') ? { tags: undefined } : tags === undefined ? {} : { tags: isTexts(tags) ? tags : undefined }),
    ownerId: isCleared('ownerId') ? undefined : (text(metadata, 'ownerId') ?? agent.ownerId),
    teamId: isCleared('teamId') ? undefined : (text(metadata, 'teamId') ?? agent.teamId),
  };
}

/** A token whose expiry or capabilities cannot be read may hold for ever, or anything. */
function withToken(tokens: Tokens, { metadata: { capabilities, expiresAt: expires } }: OpenEntry): Tokens {
  const expiresAt = timeIn(expires) ?? Infinity;
  if (!isTexts(capabilities)) return { ...tokens, anyUntil: Math.max(tokens.anyUntil, expiresAt) };
  const until = new Map(tokens.until);
  for (const name of capabilities) until.set(name, Math.max(until.get(name) ?? -Infinity, expiresAt));
  return { ...tokens, until };
}

/** A key whose end is unreadable may be good for ever. */
function withKey(keys: Tokens['keys'], { stored, metadata }: OpenEntry): Tokens['keys'] {
  const changed = new Map(keys);
  const keyId = text(metadata, 'keyId') ?? '';
  if (stored.event === 'agent.key_created') changed.set(keyId, timeIn(metadata['expiresAt']) ?? Infinity);
  else changed.delete(keyId);
  return changed;
}
