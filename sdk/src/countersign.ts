import { Agents } from './clients/agents.js';
import { Audit } from './clients/audit.js';
import { Client } from './clients/client.js';
import { Executions } from './clients/executions.js';
import { Capabilities, Grants } from './clients/grants.js';
import { Hitl } from './clients/hitl.js';
import { Notifications } from './clients/notifications.js';
import { Teams, Users } from './clients/people.js';
import { Routing, Stops, Tasks } from './clients/work.js';
import { Connection, type ConnectionOptions } from './connection.js';
import { type ExecuteOptions, Gate, type Input, type WaitOptions } from './gate/gate.js';
import { type Action, governedAction, type GovernedOptions } from './gate/governed.js';
import type { Outcome } from './gate/outcome.js';
import type { Request } from './operation.js';

/** A caller of Countersign: an agent, a person or an operator, as the credential says. */
export class Countersign extends Client {
  readonly gate = new Gate(this.connection);
  readonly agents = new Agents(this.connection);
  readonly audit = new Audit(this.connection);
  readonly capabilities = new Capabilities(this.connection);
  readonly executions = new Executions(this.connection);
  readonly grants = new Grants(this.connection);
  readonly hitl = new Hitl(this.connection);
  readonly notifications = new Notifications(this.connection);
  readonly routing = new Routing(this.connection);
  readonly stops = new Stops(this.connection);
  readonly tasks = new Tasks(this.connection);
  readonly teams = new Teams(this.connection);
  readonly users = new Users(this.connection);
  /** Calls any operation by its method and path; what it takes and answers is typed by the API document. */
  readonly request: Request = (operation, ...call) => this.connection.request(operation, ...call);

  /** @throws CountersignError INVALID_OPTIONS for an address or a credential that is none */
  constructor(options: ConnectionOptions) {
    super(new Connection(options));
  }

  /** Executes a capability, or asks for it. @throws CountersignError as `Gate.execute` says */
  execute(capability: string, input?: Input, options?: ExecuteOptions): Promise<Outcome> {
    return this.gate.execute(capability, input, options);
  }

  /** Waits for what becomes of a request, which another process may have made. */
  waitFor(hitlRequestId: string, options?: WaitOptions): Promise<Outcome> {
    return this.gate.waitFor(hitlRequestId, options);
  }

  /**
   * The same function behind the gate: it runs once the gate lets it through, on the input as a person may have edited it, and what comes
   * of it is reported. It waits for people.
   * @throws CountersignError HITL_PENDING with `hitlId` where the wait is over, HITL_REJECTED, CAPABILITY_BLOCKED and the other codes; then
   *   the function has not run. What the function throws comes through
   */
  governed<I extends Input, R>(action: Action<I, R>, capability: string, options?: GovernedOptions) {
    return governedAction(this, action, capability, options);
  }
}
