import type { Connection } from '../connection.js';
import type { BodyOf, CallOptions, QueryOf } from '../operation.js';

/** The registry of agents, with their tokens and keys. Changing it takes an administrator. */
export class Agents {
  constructor(private readonly connection: Connection) {}

  /** Newest first, 500 at most; `nextCursor` leads on. */
  list(query?: QueryOf<'GET /api/v1/agents'>, options?: CallOptions) {
    return this.connection.request('GET /api/v1/agents', { query, ...options });
  }

  /** Registers one, with its first grants if you like. `token` is shown this once. */
  register(body: BodyOf<'POST /api/v1/agents'>, options?: CallOptions) {
    return this.connection.request('POST /api/v1/agents', { body, ...options });
  }

  /** One agent, with what it may do. */
  get(id: string, options?: CallOptions) {
    return this.connection.request('GET /api/v1/agents/{id}', { path: { id }, ...options });
  }

  /** Changes what is given; null takes a description, owner or team away. */
  update(id: string, body: BodyOf<'PATCH /api/v1/agents/{id}'>, options?: CallOptions) {
    return this.connection.request('PATCH /api/v1/agents/{id}', { path: { id }, body, ...options });
  }

  /** Takes it out of service for good: its grants end, its open requests are cancelled. */
  remove(id: string, options?: CallOptions) {
    return this.connection.request('DELETE /api/v1/agents/{id}', { path: { id }, ...options });
  }

  /** In force at the very next call. */
  setRiskLevel(id: string, body: BodyOf<'PATCH /api/v1/agents/{id}/risk-level'>, options?: CallOptions) {
    return this.connection.request('PATCH /api/v1/agents/{id}/risk-level', { path: { id }, body, ...options });
  }

  /** From now on it is refused everything. Open requests stay. */
  deactivate(id: string, body?: BodyOf<'POST /api/v1/agents/{id}/deactivate'>, options?: CallOptions) {
    return this.connection.request('POST /api/v1/agents/{id}/deactivate', { path: { id }, body, ...options });
  }

  /** Puts it back into service; its old tokens stay dead. */
  activate(id: string, options?: CallOptions) {
    return this.connection.request('POST /api/v1/agents/{id}/activate', { path: { id }, ...options });
  }

  /** To another organization; grants, requests and tokens end. CONFLICT while something runs. */
  transfer(id: string, body: BodyOf<'POST /api/v1/agents/{id}/transfer'>, options?: CallOptions) {
    return this.connection.request('POST /api/v1/agents/{id}/transfer', { path: { id }, body, ...options });
  }

  /** A new token with the grants of now, shown this once. */
  issueToken(id: string, options?: CallOptions) {
    return this.connection.request('POST /api/v1/agents/{id}/token', { path: { id }, ...options });
  }

  /** Ends every token of it at once, on every server. */
  revokeTokens(id: string, options?: CallOptions) {
    return this.connection.request('DELETE /api/v1/agents/{id}/tokens', { path: { id }, ...options });
  }

  /** Its keys, without the keys themselves. */
  listKeys(id: string, query?: QueryOf<'GET /api/v1/agents/{id}/keys'>, options?: CallOptions) {
    return this.connection.request('GET /api/v1/agents/{id}/keys', { path: { id }, query, ...options });
  }

  /** A key, for an agent that sleeps longer than tokens live. `secret` is shown this once. */
  createKey(id: string, body: BodyOf<'POST /api/v1/agents/{id}/keys'>, options?: CallOptions) {
    return this.connection.request('POST /api/v1/agents/{id}/keys', { path: { id }, body, ...options });
  }

  /** Ends a key at once. */
  deleteKey(id: string, keyId: string, options?: CallOptions) {
    return this.connection.request('DELETE /api/v1/agents/{id}/keys/{keyId}', { path: { id, keyId }, ...options });
  }

  /** For one activation of a node, within 24 hours. */
  issueSetupToken(id: string, options?: CallOptions) {
    return this.connection.request('POST /api/v1/agents/{id}/setup-token', { path: { id }, ...options });
  }
}
