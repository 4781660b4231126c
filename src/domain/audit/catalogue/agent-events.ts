import type { JsonValue } from '../../json.js';
import { capabilityEvent, event, flag, members, optional, plain, value } from './event-definition.js';

const described = {
  description: optional(value<string>()), tags: optional(value<readonly string[]>()),
  teamId: optional(plain<string>()), ownerId: optional(plain<string>({ subject: true })),
  metadata: optional(members<JsonValue>()),
};

export const AGENT_EVENTS = {
  'agent.registered': event('agent', 'An agent was registered. The first entry of its chain.', {
    name: value<string>(), riskLevel: plain<string>(), ...described,
  }),
  'agent.updated': event('agent', 'What an agent is said to be was changed: what was set, and what was cleared.', {
    name: optional(value<string>()), riskLevel: optional(plain<string>()), ...described,
    /** Names of members that now have no value. */
    cleared: optional(plain<readonly string[]>()),
  }),
  'agent.deactivated': event('agent', 'The agent was taken out of service.', { reason: optional(value<string>()) }),
  'agent.activated': event('agent', 'The agent is in service again; every older token and key is dead.', { epoch: plain<number>() }),
  'agent.removed': event('agent', 'The agent was removed for good; its entries stay.', { reason: optional(value<string>()) }),
  'agent.transferred': event('agent', 'Last entry of the chain here (`out`), or the first one here (`in`), which continues it.', {
    direction: plain<'in' | 'out'>(), fromSeq: optional(plain<number>()), fromHash: optional(plain<string>()),
    reason: optional(value<string>()),
  }),
  'agent.token_refreshed': event('agent', 'The agent renewed its token.', {
    epoch: plain<number>(), expiresAt: plain<string>(), jti: optional(plain<string>()),
    capabilities: optional(plain<readonly string[]>()),
    /** The agent acknowledged that its capabilities have changed. */
    acknowledged: flag(),
    /** The agent key that the chain of tokens was exchanged for: the new one ends with it too. */
    keyId: optional(plain<string>()),
  }),
  'agent.tokens_revoked': event('agent', 'Every token and key of the agent is dead.', { epoch: plain<number>() }),
  'agent.setup_token_issued': event('agent', 'A one-time token for a node was issued.', {
    setupTokenId: optional(plain<string>()), expiresAt: plain<string>(),
  }),
  'agent.key_created': event('agent', 'A key was made by which the agent can come in; who made it vouches for it.', {
    keyId: plain<string>(),
    name: optional(value<string>()),
    expiresAt: optional(plain<string>()),
  }),
  'agent.key_deleted': event('agent', 'A key of the agent, and every token that it was exchanged for, is dead.', {
    keyId: plain<string>(),
  }),
  'agent.node_activated': event('agent', 'A node redeemed its one-time token.', {
    nodeId: value<string>(), setupTokenId: optional(plain<string>()),
  }),
};

const granted = {
  grantId: plain<string>(), version: plain<number>(), teamId: optional(plain<string>()),
  capability: plain<string>(), hitlMode: plain<string>(), expiresAt: optional(plain<string>()),
  conditions: optional(value<JsonValue>()), limits: optional(value<JsonValue>()),
  quorum: optional(value<JsonValue>()), reminders: optional(value<JsonValue>()),
  timeoutSeconds: optional(plain<number>()), timeoutAction: optional(plain<string>()),
};

const defined = {
  capability: plain<string>(),
  /** Digest of the definition (schema, connector, names of secrets). */
  definition: plain<string>(),
  description: optional(value<string>()), category: optional(value<string>()),
  hitlMode: optional(plain<string>()), riskScore: optional(plain<number>()),
  inputSchema: optional(value<JsonValue>()), connector: optional(value<JsonValue>()),
};

export const CAPABILITY_EVENTS = {
  'capability.granted': capabilityEvent('agent_or_organization', 'An agent, or a team, holds a capability.', granted),
  'capability.config_updated': capabilityEvent('agent_or_organization', 'A grant was changed: all of it as it now is.', granted),
  'capability.revoked': capabilityEvent('agent_or_organization', 'A grant ended: from this entry on nothing begins under it.', {
    grantId: plain<string>(), version: optional(plain<number>()), teamId: optional(plain<string>()),
    capability: plain<string>(),
    /** Plain: a code (revoked, agent_removed, team_deleted, transferred). */
    reason: optional(plain<string>()),
  }),
  'capability.defined': capabilityEvent('organization', 'An organization added a capability of its own.', defined),
  'capability.definition_updated': capabilityEvent('organization', 'An organization changed what a capability means.', defined),
  'capability.definition_removed': capabilityEvent('organization', "An organization's own capability was removed.", {
    capability: plain<string>(),
  }),
};
