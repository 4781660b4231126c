import { namesIn } from '../retention/archive-objects.js';
import { DirectoryArchive } from '../../../src/modules/audit/retention/archives/directory-archive.js';
import { asRoot, type Client } from '../http/actors.js';
import { anAgent } from '../builders/agents.js';
import { aPerson, firstOrganization } from '../builders/people.js';
import { done } from '../proofs/races.js';
import { aged, swept } from '../retention/retention.js';
import type { TestServer } from '../servers/server.js';

/** Whom a round erases: a customer by texts of theirs, or a user. */
export interface Erased {
  readonly kind: 'values' | 'user';
  readonly userId?: string;
  readonly texts: readonly string[];
}

export interface ErasureScenario {
  readonly people: readonly Erased[];
  /** Keys of those who ask, and of who confirms. */
  readonly admins: readonly string[];
  readonly second: string;
}

const ENTRIES_EACH = 12;
const AT_ONCE = 8;

/** A log in which so many people stand, each in entries all along it; what is older is in the archive. */
export async function aLogOf(server: TestServer, count: number, archive: string): Promise<ErasureScenario> {
  const organizationId = await firstOrganization(server);
  const second = await aPerson(server, 'admin');
  const admins = await Promise.all(Array.from({ length: Math.ceil(count / 6) }, () => aPerson(server, 'admin')));
  const agent = await anAgent(server).granted('web.search').create();
  const people = await Promise.all(Array.from({ length: count }, (_, n) => somebody(server, organizationId, n)));
  const inputs = Array.from({ length: count * ENTRIES_EACH }, (_, i) => inputOf(people[i % count]!, i));
  for (let first = 0; first < inputs.length; first += AT_ONCE) {
    if (first === Math.floor(inputs.length / 2 / AT_ONCE) * AT_ONCE) {
      await aged(server.database);
      await swept(server.database, archive, 400);
    }
    await Promise.all(inputs.slice(first, first + AT_ONCE).map(async (input) =>
      (await done(() => agent.client.post('/api/v1/execute', { capability: 'web.search', input }))).expect(200)));
  }
  return { people, admins: admins.map(({ key }) => key), second: second.key };
}

async function somebody(server: TestServer, organizationId: string, n: number): Promise<Erased> {
  const [name, email] = [`Ada Byron-${n}x`, `ada.${n}@erased.example`];
  if (n % 4 !== 3) return { kind: 'values', texts: [name, email] };
  const made = await done(() => asRoot(server).post('/api/v1/users', { email, name, organizationId }));
  return { kind: 'user', userId: made.expect(201).text('user.id'), texts: [name, email] };
}

function inputOf({ texts: [name, email] }: Erased, i: number): Record<string, unknown> {
  const kept = { amount: i, kept: `nobody ${i}` };
  switch (i % 3) {
    case 0: return { to: email, ...kept };
    case 1: return { [`for ${name!.toUpperCase()}`]: i, ...kept };
    default: return { list: [{ deep: `to ${name}, today` }], ...kept };
  }
}

/** Asks for it, by whom it takes. A server that dies meanwhile gives no answer. */
export async function begin(client: Client, { kind, userId, texts }: Erased): Promise<void> {
  if (kind === 'user') await client.delete(`/api/v1/users/${userId!}/data`);
  else await client.post('/api/v1/audit/erasures', { values: texts, reason: 'a proof' });
}

interface Stored {
  readonly d: string;
  readonly pointer: string;
  readonly value?: string;
  readonly erased?: true;
}

export type Snapshot = ReadonlyMap<string, readonly Stored[]>;

/** Of the log, and of what was swept from it. */
export async function snapshot(server: TestServer, archive: string): Promise<Snapshot> {
  const rows = await server.sql<{ id: string; disclosures: string }>('select id, disclosures from audit_entries');
  const all = new Map(rows.map(({ id, disclosures }) => [id, JSON.parse(disclosures) as Stored[]]));
  const store = new DirectoryArchive(archive);
  for (const name of await namesIn(archive)) {
    if (!name.endsWith('/disclosures.jsonl.gz')) continue;
    for await (const line of store.read(name)) {
      const { id, text } = JSON.parse(line) as { id: string; text: string };
      all.set(id, JSON.parse(text) as Stored[]);
    }
  }
  return all;
}

/** Every sentence that is not true of what erasures have left of a log: what names nobody has to stand as it stood. */
export function whatErasuresLeft(before: Snapshot, after: Snapshot, texts: readonly string[]): { wrong: string[]; blanked: number } {
  const wanted = texts.map((text) => text.toLowerCase());
  const names = (one: object) => wanted.find((text) => JSON.stringify(one).toLowerCase().includes(text));
  const wrong: string[] = [];
  let blanked = 0;
  for (const [id, disclosures] of after) {
    for (const one of disclosures) if (names(one) !== undefined) wrong.push(`${id} still holds ${names(one)} at ${one.pointer}`);
    const now = new Map(disclosures.map((one) => [one.d, one]));
    for (const was of before.get(id) ?? []) {
      const is = now.get(was.d);
      if (names(was) === undefined) {
        if (JSON.stringify(is) !== JSON.stringify(was)) wrong.push(`${id} lost ${was.pointer}, which names nobody`);
      } else if (is?.erased === true && is.value === undefined) blanked++;
      else wrong.push(`${id} kept ${was.pointer}`);
    }
  }
  for (const id of before.keys()) if (!after.has(id)) wrong.push(`${id} is gone`);
  return { wrong, blanked };
}
