import { createHash, randomBytes } from 'node:crypto';
import { organizationChain } from '../../../src/domain/audit/entry/chain.js';
import { prepareEntry } from '../../../src/domain/audit/entry/prepare-entry.js';
import { newId } from '../../../src/domain/ids.js';
import { SealedBox } from '../../../src/platform/secrets/sealed-box.js';
import { as, type Client } from '../http/actors.js';
import { appendEntriesPast } from '../log/append-past.js';
import { SIGNING_SECRET } from '../notifications/slack.js';
import type { TestServer } from '../servers/server.js';
import { TEST_ENVIRONMENT } from '../servers/test-run.js';

/** The key of every server that tests start. */
const box = new SealedBox({ encryptionKey: TEST_ENVIRONMENT['ENCRYPTION_KEY']! });

export type Role = 'owner' | 'admin' | 'member' | 'viewer';

export interface BuiltPerson {
  readonly id: string;
  readonly organizationId: string;
  readonly email: string;
  readonly role: Role;
  /** A personal key. */
  readonly key: string;
  readonly keyId: string;
  /** A client that calls with that key. */
  readonly client: Client;
}

export interface PersonTerms {
  /** Default: the installation's first organization. */
  readonly organizationId?: string;
  readonly email?: string;
  readonly name?: string;
  /** Seconds by which account, role and key are older than now. Default an hour. */
  readonly age?: number;
  readonly vouchedBy?: string;
}

/**
 * A person with a personal key, put into the database past the API: for tests of what people may do, not of how they are
 * made.
 */
export async function aPerson(server: TestServer, role: Role, terms: PersonTerms = {}): Promise<BuiltPerson> {
  const id = newId('usr');
  const keyId = newId('key');
  const key = `svc_user_${randomBytes(32).toString('hex')}`;
  const organizationId = terms.organizationId ?? (await firstOrganization(server));
  const email = terms.email ?? `${id}@example.test`;
  const since = new Date(Date.now() - (terms.age ?? 3_600) * 1_000);
  await server.sql(
    `insert into users (organization_id, id, email, email_folded, email_since, name, role, role_since, status, vouched_by,
       created_at, updated_at)
     values ($1, $2, $3, lower($3), $6, $4, $5, $6, 'active', $7, $6, $6)`,
    [organizationId, id, email, terms.name ?? `Person ${id.slice(-4)}`, role, since, terms.vouchedBy ?? null],
  );
  await server.sql(
    `insert into personal_keys (organization_id, id, user_id, name, key_hash, created_by, created_at)
     values ($1, $2, $3, 'test', $4, 'root', $5)`,
    [organizationId, keyId, id, createHash('sha256').update(key).digest('hex'), since],
  );
  return { id, organizationId, email, role, key, keyId, client: as(server, key) };
}

export async function firstOrganization(server: TestServer): Promise<string> {
  const [row] = await server.sql<{ id: string }>('select first_organization_id as id from instance');
  return row!.id;
}

/** An organization of its own, with its chain, past the API. */
export async function anOrganization(
  server: TestServer,
  terms: { readonly name?: string; readonly tenantId?: string } = {},
): Promise<string> {
  const id = newId('org');
  if (terms.tenantId !== undefined) {
    await server.sql('insert into tenants (id, name) values ($1, $1) on conflict do nothing', [terms.tenantId]);
  }
  await server.sql(
    `insert into organizations (id, name, tenant_id, created_at, updated_at) values ($1, $2, $3, clock_timestamp(), clock_timestamp())`,
    [id, terms.name ?? 'Another', terms.tenantId ?? null],
  );
  await server.sql('insert into audit_heads (organization_id, chain) values ($1, $2)', [id, `sys_${id}`]);
  return id;
}

/** A team with its members, past the API. */
export async function aTeam(
  server: TestServer,
  organizationId: string,
  members: readonly { readonly userId: string; readonly role?: 'member' | 'lead'; readonly age?: number }[] = [],
): Promise<string> {
  const id = newId('team');
  await server.sql(
    `insert into teams (organization_id, id, name, created_at, updated_at) values ($1, $2, 'a team', clock_timestamp(), clock_timestamp())`,
    [organizationId, id],
  );
  for (const { userId, role = 'member', age = 3_600 } of members) {
    await server.sql(
      `insert into team_members (organization_id, team_id, user_id, role, since, role_since) values ($1, $2, $3, $4, $5, $5)`,
      [organizationId, id, userId, role, new Date(Date.now() - age * 1_000)],
    );
  }
  return id;
}

/** Closes an account past the API. */
export async function closeAccount(server: TestServer, { id }: { readonly id: string }): Promise<void> {
  await server.sql(`update users set status = 'deleted', ended_at = clock_timestamp() where id = $1`, [id]);
}

/** A stop in force, past the API. */
export async function aStop(
  server: TestServer,
  organizationId: string,
  terms: { readonly agentId?: string; readonly by?: string; readonly role?: 'root' | 'owner' | 'admin'; readonly reason?: string } = {},
): Promise<string> {
  const id = newId('stp');
  await server.sql(
    `insert into stops (organization_id, id, scope, agent_id, reason, made_by, made_by_role, made_at)
     values ($1, $2, $3, $4, $5, $6, $7, clock_timestamp())`,
    [organizationId, id, terms.agentId === undefined ? 'organization' : 'agent', terms.agentId ?? null, terms.reason ?? 'a test',
      terms.by ?? 'root', terms.role ?? 'admin'],
  );
  return id;
}

/** An erasure of values that waits for a second person, past the API, with its entry. It is never gone on with. */
export async function anErasure(server: TestServer, organizationId: string): Promise<string> {
  const id = newId('ers');
  const asked = prepareEntry(
    { type: 'gdpr.erasure_requested', chain: organizationChain(organizationId), metadata: { erasureId: id, count: 1 } },
    { id: newId('audit'), actorId: 'system', timestamp: new Date() });
  await appendEntriesPast(server.database, asked);
  await server.sql(
    `insert into erasures (organization_id, id, kind, state, asked_by, place, counts, asked_at)
     values ($1, $2, 'values', 'unconfirmed', 'system', '{"phase":"log","round":1}', $3, clock_timestamp())`,
    [organizationId, id, JSON.stringify({ values: 0, byText: 0, entries: 0, unreadable: 0, rows: {}, left: {} })],
  );
  return id;
}

/** A further personal key of somebody, past the API. @returns its id and the key */
export async function aPersonalKey(
  server: TestServer,
  { organizationId, userId, expiresAt, name = 'test' }: {
    readonly organizationId: string; readonly userId: string; readonly expiresAt?: Date; readonly name?: string;
  },
): Promise<{ id: string; key: string }> {
  const id = newId('key');
  const key = `svc_user_${randomBytes(32).toString('hex')}`;
  await server.sql(
    `insert into personal_keys (organization_id, id, user_id, name, key_hash, created_by, created_at, expires_at)
     values ($1, $2, $3, $4, $5, 'root', clock_timestamp() - interval '1 hour', $6)`,
    [organizationId, id, userId, name, createHash('sha256').update(key).digest('hex'), expiresAt ?? null],
  );
  return { id, key };
}

/** A passkey of somebody that nobody can use, past the API. */
export async function aPasskey(
  server: TestServer,
  { organizationId, userId, name = 'test' }: { readonly organizationId: string; readonly userId: string; readonly name?: string },
): Promise<string> {
  const id = newId('pky');
  await server.sql(
    `insert into passkeys (organization_id, id, user_id, credential_id, public_key, counter, transports, device_type, backed_up, name,
       created_at)
     values ($1, $2, $3, $2, '', 0, '{}', 'singleDevice', false, $4, clock_timestamp())`,
    [organizationId, id, userId, name],
  );
  return id;
}

/** A Slack account that is linked to somebody's, past the API, for an hour unless told otherwise; under the stand-in's secret. */
export async function aChatAccount(
  server: TestServer,
  { organizationId, userId, workspace = 'T0TEST', chatUser, age = 3_600, secret = SIGNING_SECRET }: {
    readonly organizationId: string; readonly userId: string; readonly workspace?: string; readonly chatUser?: string;
    readonly age?: number; readonly secret?: string;
  },
): Promise<string> {
  const id = newId('cha');
  await server.sql(
    `insert into chat_accounts (organization_id, id, user_id, chat, workspace, chat_user, vouched_by, created_at)
     values ($1, $2, $3, 'slack', $4, coalesce($5, $2), $7, clock_timestamp() - make_interval(secs => $6))`,
    [organizationId, id, userId, workspace, chatUser ?? null, age, box.mac('chat-links', secret)],
  );
  return id;
}

/** An open invitation whose link nobody has, past the API. */
export async function anInvitation(server: TestServer, organizationId: string, name: string | null = null): Promise<string> {
  const id = newId('inv');
  await server.sql(
    `insert into invitations (organization_id, id, email, email_folded, name, role, token_hash, delivery, invited_by, created_at,
       expires_at)
     values ($1, $2, $2 || '@example.test', $2 || '@example.test', $4, 'viewer', $3, 'hand', 'root', clock_timestamp(),
       clock_timestamp() + interval '1 hour')`,
    [organizationId, id, randomBytes(32).toString('hex'), name],
  );
  return id;
}
