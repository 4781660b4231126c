import { Client } from './client.js';

/** What passed the gate, and what became of it. */
export class Executions extends Client {
  /** Newest first. */
  readonly list = this.byQuery('GET /api/v1/executions');
  /** One, with its output or error. `wait` holds the answer until it is closed. */
  readonly get = this.byIdAndQuery('GET /api/v1/executions/{id}');
  /** What came of work that the agent did itself: once, within 24 hours. */
  readonly report = this.byIdAndBody('POST /api/v1/executions/{id}/report');
  /** What a person found out about an indeterminate one. */
  readonly settle = this.byIdAndBody('POST /api/v1/executions/{id}/settle');
  /** Takes one back that waits for a person. */
  readonly cancel = this.byIdAndBody('POST /api/v1/executions/{id}/cancel');
}
