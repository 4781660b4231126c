import { Client } from './client.js';

/** Emergency stops: while one holds nothing begins. */
export class Stops extends Client {
  /** Newest first. */
  readonly list = this.byQuery('GET /api/v1/stops');
  /** Of an agent, an organization, or everything (root). In force on every server once it is answered. */
  readonly create = this.byBody('POST /api/v1/stops');
  /** One stop. */
  readonly get = this.byId('GET /api/v1/stops/{id}');
  /** By its maker or a higher role. Open requests get the time back. */
  readonly lift = this.byId('DELETE /api/v1/stops/{id}');
}

/** The best agent for a task, and tasks given to it. */
export class Routing extends Client {
  /** Asks who would do it best. NO_ELIGIBLE_AGENT where nobody may. */
  readonly resolve = this.byBody('POST /api/v1/routing/resolve');
  /** Gives a task to an agent, or to the best one. */
  readonly delegate = this.byBody('POST /api/v1/routing/delegate');
  /** The last 200 decisions. */
  readonly log = this.byQuery('GET /api/v1/routing/log');
}

/** Work that agents and people gave to agents. */
export class Tasks extends Client {
  /** Newest first. */
  readonly list = this.byQuery('GET /api/v1/tasks');
  /** One task. `wait` holds the answer until it has ended. */
  readonly get = this.byIdAndQuery('GET /api/v1/tasks/{id}');
  /** While it is assigned alone; then its execution is cancelled. */
  readonly cancel = this.byId('POST /api/v1/tasks/{id}/cancel');
}
