import type { Connection } from '../connection.js';
import type { BodyOf, CallOptions, QueryOf } from '../operation.js';

/** Emergency stops: while one holds nothing begins. */
export class Stops {
  constructor(private readonly connection: Connection) {}

  /** Newest first. */
  list(query?: QueryOf<'GET /api/v1/stops'>, options?: CallOptions) {
    return this.connection.request('GET /api/v1/stops', { query, ...options });
  }

  /** Of an agent, an organization, or everything (root). In force on every server once it is answered. */
  create(body: BodyOf<'POST /api/v1/stops'>, options?: CallOptions) {
    return this.connection.request('POST /api/v1/stops', { body, ...options });
  }

  /** One stop. */
  get(id: string, options?: CallOptions) {
    return this.connection.request('GET /api/v1/stops/{id}', { path: { id }, ...options });
  }

  /** By its maker or a higher role. Open requests get the time back. */
  lift(id: string, options?: CallOptions) {
    return this.connection.request('DELETE /api/v1/stops/{id}', { path: { id }, ...options });
  }
}

/** The best agent for a task, and tasks given to it. */
export class Routing {
  constructor(private readonly connection: Connection) {}

  /** Asks who would do it best. NO_ELIGIBLE_AGENT where nobody may. */
  resolve(body: BodyOf<'POST /api/v1/routing/resolve'>, options?: CallOptions) {
    return this.connection.request('POST /api/v1/routing/resolve', { body, ...options });
  }

  /** Gives a task to an agent, or to the best one. */
  delegate(body: BodyOf<'POST /api/v1/routing/delegate'>, options?: CallOptions) {
    return this.connection.request('POST /api/v1/routing/delegate', { body, ...options });
  }

  /** The last 200 decisions. */
  log(query?: QueryOf<'GET /api/v1/routing/log'>, options?: CallOptions) {
    return this.connection.request('GET /api/v1/routing/log', { query, ...options });
  }
}

/** Work that agents and people gave to agents. */
export class Tasks {
  constructor(private readonly connection: Connection) {}

  /** Newest first. */
  list(query?: QueryOf<'GET /api/v1/tasks'>, options?: CallOptions) {
    return this.connection.request('GET /api/v1/tasks', { query, ...options });
  }

  /** One task. `wait` holds the answer until it has ended. */
  get(id: string, query?: QueryOf<'GET /api/v1/tasks/{id}'>, options?: CallOptions) {
    return this.connection.request('GET /api/v1/tasks/{id}', { path: { id }, query, ...options });
  }

  /** While it is assigned alone; then its execution is cancelled. */
  cancel(id: string, options?: CallOptions) {
    return this.connection.request('POST /api/v1/tasks/{id}/cancel', { path: { id }, ...options });
  }
}
