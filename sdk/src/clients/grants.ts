import type { Connection } from '../connection.js';
import type { BodyOf, CallOptions, QueryOf } from '../operation.js';

/** Who may do what, and in which mode. */
export class Grants {
  constructor(private readonly connection: Connection) {}

  /** Grants to an agent or a team. Of what is granted already it changes the members that are given. */
  create(body: BodyOf<'POST /api/v1/capabilities/grant'>, options?: CallOptions) {
    return this.connection.request('POST /api/v1/capabilities/grant', { body, ...options });
  }

  /** Who holds a capability, or what an agent or a team holds. */
  list(query?: QueryOf<'GET /api/v1/capabilities/grants'>, options?: CallOptions) {
    return this.connection.request('GET /api/v1/capabilities/grants', { query, ...options });
  }

  /** An agent's, its team's among them. */
  listOf(agentId: string, query?: QueryOf<'GET /api/v1/agents/{id}/capabilities'>, options?: CallOptions) {
    return this.connection.request('GET /api/v1/agents/{id}/capabilities', { path: { id: agentId }, query, ...options });
  }

  /** Changes an agent's own grant; null returns a member to its default. */
  configure(
    agentId: string, capability: string, body: BodyOf<'PATCH /api/v1/agents/{id}/capabilities/{capability}'>, options?: CallOptions,
  ) {
    const call = { path: { id: agentId, capability }, body, ...options };
    return this.connection.request('PATCH /api/v1/agents/{id}/capabilities/{capability}', call);
  }

  /** By the id of the grant. Nothing begins after the answer. */
  revoke(id: string, options?: CallOptions) {
    return this.connection.request('DELETE /api/v1/capabilities/grant/{id}', { path: { id }, ...options });
  }
}

/** The catalogue: what there is to do. */
export class Capabilities {
  constructor(private readonly connection: Connection) {}

  /** All of them, not paged. */
  list(options?: CallOptions) {
    return this.connection.request('GET /api/v1/capabilities', { ...options });
  }

  /** One of your own, with an input schema and a connector if you like. */
  define(body: BodyOf<'POST /api/v1/capabilities'>, options?: CallOptions) {
    return this.connection.request('POST /api/v1/capabilities', { body, ...options });
  }

  /** Changes what is given. Requests that wait are no longer executable then. */
  update(name: string, body: BodyOf<'PATCH /api/v1/capabilities/{name}'>, options?: CallOptions) {
    return this.connection.request('PATCH /api/v1/capabilities/{name}', { path: { name }, body, ...options });
  }

  /** CONFLICT while it is granted, or part of the catalogue. */
  remove(name: string, options?: CallOptions) {
    return this.connection.request('DELETE /api/v1/capabilities/{name}', { path: { name }, ...options });
  }
}
