import { Client } from './client.js';

/** The registry of agents, with their tokens and keys. Changing it takes an administrator. */
export class Agents extends Client {
  /** Newest first, 500 at most; `nextCursor` leads on. */
  readonly list = this.byQuery('GET /api/v1/agents');
  /** Registers one, with its first grants if you like. `token` is shown this once. */
  readonly register = this.byBody('POST /api/v1/agents');
  /** One agent, with what it may do. */
  readonly get = this.byId('GET /api/v1/agents/{id}');
  /** Changes what is given; null takes a description, owner or team away. */
  readonly update = this.byIdAndBody('PATCH /api/v1/agents/{id}');
  /** Takes it out of service for good: its grants end, its open requests are cancelled. */
  readonly remove = this.byId('DELETE /api/v1/agents/{id}');
  /** In force at the very next call. */
  readonly setRiskLevel = this.byIdAndBody('PATCH /api/v1/agents/{id}/risk-level');
  /** From now on it is refused everything. Open requests stay. */
  readonly deactivate = this.byIdAndBody('POST /api/v1/agents/{id}/deactivate');
  /** Puts it back into service; its old tokens stay dead. */
  readonly activate = this.byId('POST /api/v1/agents/{id}/activate');
  /** To another organization; grants, requests and tokens end. CONFLICT while something runs. */
  readonly transfer = this.byIdAndBody('POST /api/v1/agents/{id}/transfer');
  /** A new token with the grants of now, shown this once. */
  readonly issueToken = this.byId('POST /api/v1/agents/{id}/token');
  /** Ends every token of it at once, on every server. */
  readonly revokeTokens = this.byId('DELETE /api/v1/agents/{id}/tokens');
  /** Its keys, without the keys themselves. */
  readonly listKeys = this.byIdAndQuery('GET /api/v1/agents/{id}/keys');
  /** A key, for an agent that sleeps longer than tokens live. `secret` is shown this once. */
  readonly createKey = this.byIdAndBody('POST /api/v1/agents/{id}/keys');
  /** Ends a key at once. */
  readonly deleteKey = this.byIds('DELETE /api/v1/agents/{id}/keys/{keyId}');
  /** For one activation of a node, within 24 hours. */
  readonly issueSetupToken = this.byId('POST /api/v1/agents/{id}/setup-token');
}
