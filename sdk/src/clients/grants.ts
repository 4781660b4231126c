import type { BodyOf, CallOptions } from '../operation.js';
import { Client } from './client.js';

/** Who may do what, and in which mode. */
export class Grants extends Client {
  /** Grants to an agent or a team. Of what is granted already it changes the members that are given. */
  readonly create = this.byBody('POST /api/v1/capabilities/grant');
  /** Who holds a capability, or what an agent or a team holds. */
  readonly list = this.byQuery('GET /api/v1/capabilities/grants');
  /** An agent's, its team's among them. */
  readonly listOf = this.byIdAndQuery('GET /api/v1/agents/{id}/capabilities');
  /** Changes an agent's own grant; null returns a member to its default. */
  configure(
    agentId: string, capability: string, body: BodyOf<'PATCH /api/v1/agents/{id}/capabilities/{capability}'>, options?: CallOptions,
  ) {
    const call = { path: { id: agentId, capability }, body, ...options };
    return this.connection.request('PATCH /api/v1/agents/{id}/capabilities/{capability}', call);
  }

  /** By the id of the grant. Nothing begins after the answer. */
  readonly revoke = this.byId('DELETE /api/v1/capabilities/grant/{id}');
}

/** The catalogue: what there is to do. */
export class Capabilities extends Client {
  /** All of them, not paged. */
  readonly list = this.plain('GET /api/v1/capabilities');
  /** One of your own, with an input schema and a connector if you like. */
  readonly define = this.byBody('POST /api/v1/capabilities');
  /** Changes what is given. Requests that wait are no longer executable then. */
  readonly update = this.byIdAndBody('PATCH /api/v1/capabilities/{name}');
  /** CONFLICT while it is granted, or part of the catalogue. */
  readonly remove = this.byId('DELETE /api/v1/capabilities/{name}');
}
