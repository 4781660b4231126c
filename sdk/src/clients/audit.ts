import type { Connection } from '../connection.js';
import type { BodyOf, CallOptions, QueryOf } from '../operation.js';

/** The log. Queries need a member, the rest an administrator. */
export class Audit {
  constructor(private readonly connection: Connection) {}

  /** Newest first, 50 unless `limit` says otherwise. */
  list(query?: QueryOf<'GET /api/v1/audit'>, options?: CallOptions) {
    return this.connection.request('GET /api/v1/audit', { query, ...options });
  }

  /** One entry. */
  get(id: string, options?: CallOptions) {
    return this.connection.request('GET /api/v1/audit/{id}', { path: { id }, ...options });
  }

  /** That it stands under a signed checkpoint. CONFLICT until one covers it, some seconds later. */
  proof(id: string, options?: CallOptions) {
    return this.connection.request('GET /api/v1/audit/{id}/proof', { path: { id }, ...options });
  }

  /** Verifies every chain that the caller may see, or one agent's; once a minute. Give a large log a long `timeoutMs`. */
  verify(query?: QueryOf<'GET /api/v1/audit/verify'>, options?: CallOptions) {
    return this.connection.request('GET /api/v1/audit/verify', { query, ...options });
  }

  /** The keys that sign checkpoints. Public. */
  keys(options?: CallOptions) {
    return this.connection.request('GET /api/v1/audit/keys', { ...options });
  }

  /** Signed checkpoints, newest first. Public. */
  checkpoints(query?: QueryOf<'GET /api/v1/audit/checkpoints'>, options?: CallOptions) {
    return this.connection.request('GET /api/v1/audit/checkpoints', { query, ...options });
  }

  /** What was erased when, without the values. */
  listErasures(query?: QueryOf<'GET /api/v1/audit/erasures'>, options?: CallOptions) {
    return this.connection.request('GET /api/v1/audit/erasures', { query, ...options });
  }

  /** Erases texts wherever they stand. Irreversible; `dryRun` counts first. */
  erase(body: BodyOf<'POST /api/v1/audit/erasures'>, options?: CallOptions) {
    return this.connection.request('POST /api/v1/audit/erasures', { body, ...options });
  }

  /** As the second person that a large erasure needs. */
  confirmErasure(id: string, options?: CallOptions) {
    return this.connection.request('POST /api/v1/audit/erasures/{id}/confirm', { path: { id }, ...options });
  }
}
