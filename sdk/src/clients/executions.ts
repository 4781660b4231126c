import type { Connection } from '../connection.js';
import type { BodyOf, CallOptions, QueryOf } from '../operation.js';

/** What passed the gate, and what became of it. */
export class Executions {
  constructor(private readonly connection: Connection) {}

  /** Newest first. */
  list(query?: QueryOf<'GET /api/v1/executions'>, options?: CallOptions) {
    return this.connection.request('GET /api/v1/executions', { query, ...options });
  }

  /** One, with its output or error. `wait` holds the answer until it is closed. */
  get(id: string, query?: QueryOf<'GET /api/v1/executions/{id}'>, options?: CallOptions) {
    return this.connection.request('GET /api/v1/executions/{id}', { path: { id }, query, ...options });
  }

  /** What came of work that the agent did itself: once, within 24 hours. */
  report(id: string, body: BodyOf<'POST /api/v1/executions/{id}/report'>, options?: CallOptions) {
    return this.connection.request('POST /api/v1/executions/{id}/report', { path: { id }, body, ...options });
  }

  /** What a person found out about an indeterminate one. */
  settle(id: string, body: BodyOf<'POST /api/v1/executions/{id}/settle'>, options?: CallOptions) {
    return this.connection.request('POST /api/v1/executions/{id}/settle', { path: { id }, body, ...options });
  }

  /** Takes one back that waits for a person. */
  cancel(id: string, body?: BodyOf<'POST /api/v1/executions/{id}/cancel'>, options?: CallOptions) {
    return this.connection.request('POST /api/v1/executions/{id}/cancel', { path: { id }, body, ...options });
  }
}
