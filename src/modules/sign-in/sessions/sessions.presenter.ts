import { ApiProperty } from '@nestjs/swagger';
import {
  ACCESS, type AccessKey, type AgentCredential, type PrincipalKind, type Reach, reachOf, type Role, ROLES,
} from '../../../domain/access/access.js';
import { effectiveTier, type Tier, TIERS } from '../../../domain/access/tiers.js';
import type { AgentPrincipal, UserPrincipal } from '../../../platform/auth/access/principal.js';
import { UserReply } from '../../organizations/users/users.presenter.js';
import { SESSION_METHODS, type SessionMethod } from '../ports/sessions.js';
import type { HomeRow, SessionRow } from './sessions.query.js';

class KnownSession {
  @ApiProperty({ example: 'sess_…' }) id!: string;
  @ApiProperty({ enum: SESSION_METHODS, description: 'How its person came in.' }) method!: SessionMethod;
  @ApiProperty({ format: 'date-time' }) createdAt!: string;
  @ApiProperty({ format: 'date-time', description: 'When it ends in any case; without use it ends earlier.' }) expiresAt!: string;
}

export class SessionReply extends KnownSession {
  @ApiProperty({ format: 'date-time', description: 'To about a minute.' }) lastUsedAt!: string;
  @ApiProperty({ type: String, nullable: true, description: 'What the browser called itself.' }) userAgent!: string | null;
  @ApiProperty({ type: String, nullable: true, description: 'Where it came from when it began.' }) address!: string | null;
  @ApiProperty({ description: 'Whether it is the one that asks.' }) current!: boolean;
}

export class SessionListReply {
  @ApiProperty({ type: SessionReply, isArray: true }) sessions!: SessionReply[];
  @ApiProperty({ type: 'integer' }) total!: number;
  @ApiProperty({ required: false, description: 'For `cursor`, when more follow.' }) nextCursor?: string;
}

export class SignedOutReply {
  @ApiProperty({
    type: String, nullable: true,
    description: 'Where the browser ends the session at the identity provider too. Null where there is no such page, or no provider.',
  })
  endSessionUrl!: string | null;
}

export class HomeReply {
  @ApiProperty({ example: 'org_…' }) id!: string;
  @ApiProperty() name!: string;
}

export class SubscriptionReply {
  @ApiProperty({ example: 'ten_…' }) id!: string;
  @ApiProperty({ enum: TIERS, description: 'As it counts now: without an active subscription the least.' }) tier!: Tier;
}

const WHO = ['root', 'user', 'agent', 'internal'] as const;
const AGENT_CREDENTIALS = ['token', 'key'] as const satisfies readonly AgentCredential[];

export class OwnCredentialReply {
  @ApiProperty({ example: 'agt_…' }) id!: string;
  @ApiProperty({ enum: AGENT_CREDENTIALS, description: 'By what it came in.' }) credential!: AgentCredential;
  @ApiProperty({ required: false, example: 'akey_…', description: 'The agent key that was shown, or exchanged for the token.' })
  keyId?: string;
  @ApiProperty({ format: 'date-time', required: false, description: 'When the credential ends. Absent: it has no end.' })
  expiresAt?: string;
  @ApiProperty({ type: String, isArray: true, required: false, description: 'What the token names. A key names none: the grants decide.' })
  capabilities?: readonly string[];
}

export class WhoAmIReply {
  @ApiProperty({ enum: WHO, description: 'Whom the credential names. `root` and `internal` are nobody\'s account.' })
  principal!: (typeof WHO)[number];
  @ApiProperty({
    type: Object, additionalProperties: { type: 'string', enum: ['all', 'own'] },
    description: 'What the caller may do, by the keys of `docs/permissions.md`. What is not named is denied.',
  })
  permissions!: Readonly<Record<string, Reach>>;
  @ApiProperty({ type: UserReply, required: false, description: 'Of a person: the account, with the role of its record.' })
  user?: UserReply;
  @ApiProperty({ enum: ROLES, required: false, description: 'Of a person: the role that counts, no more than the identity provider says.' })
  role?: Role;
  @ApiProperty({ type: OwnCredentialReply, required: false, description: 'Of an agent.' }) agent?: OwnCredentialReply;
  @ApiProperty({ type: HomeReply, required: false, description: 'Of a person or an agent.' }) organization?: HomeReply;
  @ApiProperty({ type: SubscriptionReply, required: false, description: 'Where the organization belongs to a tenant.' })
  tenant?: SubscriptionReply;
  @ApiProperty({ type: KnownSession, required: false, description: 'Of who came in by one.' }) session?: KnownSession;
}

export function presentSession(row: SessionRow, current: string | undefined): SessionReply {
  const { id, method, createdAt, lastUsedAt, expiresAt, userAgent, address } = row;
  return {
    id, method, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString(), lastUsedAt: lastUsedAt.toISOString(), userAgent,
    address, current: id === current,
  };
}

/** What a caller of this kind may do, by the keys of the access table. */
export function permissionsOf(kind: PrincipalKind): Readonly<Record<string, Reach>> {
  const reaches = (Object.keys(ACCESS) as AccessKey[]).map((key) => [key, reachOf(key, kind)] as const);
  return Object.fromEntries(reaches.filter((pair): pair is readonly [AccessKey, Reach] => pair[1] !== 'denied'));
}

/** Of a person. */
export type PersonReply = WhoAmIReply & Required<Pick<WhoAmIReply, 'user' | 'role' | 'organization'>>;

export function presentPerson(
  user: UserReply, { role, hasSubscription }: UserPrincipal, home: HomeRow, session: SessionRow | undefined,
): PersonReply {
  return {
    principal: 'user', user, role, permissions: permissionsOf(role), ...presentHome(home, hasSubscription),
    ...(session === undefined ? {} : {
      session: {
        id: session.id, method: session.method, createdAt: session.createdAt.toISOString(), expiresAt: session.expiresAt.toISOString(),
      },
    }),
  };
}

export function presentAgent(agent: AgentPrincipal, home: HomeRow): WhoAmIReply {
  const { agentId: id, credential, keyId, expiresAt, capabilities } = agent;
  return {
    principal: 'agent', permissions: permissionsOf('agent'), ...presentHome(home),
    agent: {
      id, credential, ...(keyId === undefined ? {} : { keyId }),
      ...(expiresAt === Infinity ? {} : { expiresAt: new Date(expiresAt * 1_000).toISOString() }),
      ...(capabilities === 'any' ? {} : { capabilities }),
    },
  };
}

/** @param claimed whether the identity provider says that the tenant has a subscription */
function presentHome({ id, name, tenantId, tier, subscriptionActive }: HomeRow, claimed?: boolean) {
  if (tenantId === null) return { organization: { id, name } };
  const subscription = { tier: tier!, active: subscriptionActive!, ...(claimed === undefined ? {} : { claimed }) };
  return { organization: { id, name }, tenant: { id: tenantId, tier: effectiveTier(subscription) } };
}
