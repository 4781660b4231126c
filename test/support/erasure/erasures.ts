import { asRoot, type Client } from '../http/actors.js';
import { eventually } from '../running/eventually.js';
import type { TestServer } from '../servers/server.js';

export interface SeenErasure {
  readonly id: string;
  readonly state: string;
  readonly kind: string;
  readonly organizationId: string;
  readonly confirmedBy?: string;
  readonly counts: {
    readonly values: number;
    readonly byText: number;
    readonly entries: number;
    readonly unreadable: number;
    readonly rows: Readonly<Record<string, number>>;
    readonly left: Readonly<Record<string, number>>;
  };
  readonly [member: string]: unknown;
}

export interface SeenVerification {
  readonly valid: boolean;
  readonly verdict: string;
  readonly breaks: readonly { readonly kind: string; readonly entryId: string }[];
}

/** The erasures that the caller sees, newest first. */
export async function erasuresOf(client: Client): Promise<SeenErasure[]> {
  return (await client.get('/api/v1/audit/erasures', { query: { limit: 500 } })).expect(200).list('erasures') as SeenErasure[];
}

/** Waits until no erasure is running any more. */
export async function erased(server: TestServer, within = 120_000): Promise<void> {
  await eventually(async () => {
    const running = (await erasuresOf(asRoot(server))).filter(({ state }) => state === 'running');
    if (running.length > 0) throw new Error(`still running: ${JSON.stringify(running)}`);
  }, { within, every: 100 });
}

/** The whole log's verification, however often it is asked for. */
export async function verification(server: TestServer): Promise<SeenVerification> {
  return eventually(async () => {
    await server.sql('delete from audit_verification_rate_limits');
    const reply = await asRoot(server).get('/api/v1/audit/verify');
    return reply.expect(200).body as SeenVerification;
  }, { every: 200 });
}

/** Of the database's text and JSON columns, those that hold this text somewhere, as `table.column`. */
export async function columnsWith(server: TestServer, text: string, tables?: readonly string[]): Promise<string[]> {
  const columns = await server.sql<{ table: string; column: string }>(
    `select c.table_name as table, c.column_name as column from information_schema.columns c
     join information_schema.tables t using (table_schema, table_name)
     where c.table_schema = current_schema() and t.table_type = 'BASE TABLE'
       and c.data_type in ('text', 'ARRAY', 'json', 'jsonb', 'character varying') and ($1::text[] is null or c.table_name = any ($1))
     order by 1, 2`,
    [tables ?? null],
  );
  const found: string[] = [];
  for (const { table, column } of columns) {
    const [row] = await server.sql<{ found: boolean }>(
      `select exists (select from "${table}" where strpos(lower("${column}"::text), lower($1)) > 0) as found`, [text],
    );
    if (row!.found) found.push(`${table}.${column}`);
  }
  return found;
}
