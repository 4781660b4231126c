import { asRoot } from '../http/actors.js';
import { eventually } from '../running/eventually.js';
import type { TestServer } from '../servers/server.js';

export interface SeenExecution {
  readonly id: string;
  readonly agentId: string;
  readonly capability: string;
  readonly status: string;
  readonly runtime: string;
  readonly reason?: string;
  readonly output?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
  readonly auditId?: string;
  readonly hitlRequestId?: string;
  readonly [member: string]: unknown;
}

/** A request in the interface's snake_case form. */
export interface SeenRequest {
  readonly id: string;
  readonly status: string;
  readonly action_digest: string;
  readonly decided_by: string | null;
  readonly decided_at: string | null;
  readonly execution?: { readonly id: string; readonly status: string; readonly [member: string]: unknown };
  readonly [member: string]: unknown;
}

/** The organization's own capability of that name, with what else the definition says (`connector`, `inputSchema`, …). */
export async function defineCapability(server: TestServer, name: string, more: Readonly<Record<string,
  unknown>> = {}): Promise<void> {
  const body = { name, description: `what ${name} does`, ...more };
  (await asRoot(server).post('/api/v1/capabilities', body)).expect(201);
}

export async function executionOf(server: TestServer, id: string, wait = 0): Promise<SeenExecution> {
  const reply = await asRoot(server).get(`/api/v1/executions/${id}`, { query: { wait } });
  return reply.expect(200).at('execution') as SeenExecution;
}

export async function requestOf(server: TestServer, id: string, wait = 0): Promise<SeenRequest> {
  const reply = await asRoot(server).get<SeenRequest>(`/api/v1/hitl/${id}`, { query: { wait } });
  return reply.expect(200).body;
}

/** The execution, once it has that status. */
export function executionBecomes(server: TestServer, id: string, status: string, within = 120_000): Promise<SeenExecution> {
  return eventually(
    async () => {
      const execution = await executionOf(server, id);
      if (execution.status !== status) throw new Error(`the execution is ${execution.status}, not ${status}`);
      return execution;
    },
    { within, every: 100 },
  );
}

/** From now on what commits leave in the outbox is not due: the moment between an approval and its run stands still. */
export async function pauseOutbox(server: TestServer): Promise<void> {
  await server.sql(`create or replace function test_pause_outbox() returns trigger language plpgsql as
    $$ begin new.available_at := clock_timestamp() + interval '1 hour'; new.attempts := 0; return new; end $$`);
  await server.sql('create trigger test_pause_outbox before insert on outbox for each row execute function test_pause_outbox()');
}

/** Everything that waits is due. */
export async function resumeOutbox(server: TestServer): Promise<void> {
  await server.sql('drop trigger test_pause_outbox on outbox');
  await server.sql(`update outbox set available_at = clock_timestamp()`);
}
