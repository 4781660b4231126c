import { GATE_CLOSE } from './gate-and-hitl/close.js';
import { GATE_COMMIT, STALE_BEHIND } from './gate-and-hitl/commit.js';
import { HITL_EVENTS } from './gate-and-hitl/events.js';
import { EXECUTIONS } from './gate-and-hitl/executions.js';
import { HITL_REQUESTS } from './gate-and-hitl/requests.js';
import { FirstSchema } from './shared/first-schema.js';

/**
 * Why: executions, the requests that people decide, the events of both, and the set-based half of the gate. `input` and `context`
 * are the canonical text (RFC 8785): what a person approved is exactly these bytes, and exactly these bytes run.
 */
export class CreateGateAndHitl20261121000400 extends FirstSchema {
  readonly name = 'CreateGateAndHitl20261121000400';
  protected readonly statements = [...EXECUTIONS, ...HITL_REQUESTS, ...HITL_EVENTS, STALE_BEHIND, GATE_COMMIT, GATE_CLOSE];
}
