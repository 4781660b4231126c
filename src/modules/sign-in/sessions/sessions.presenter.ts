import { ApiProperty } from '@nestjs/swagger';
import { ACCESS, type AccessKey, type Reach, reachOf, type Role, ROLES } from '../../../domain/access/access.js';
import { effectiveTier, type Tier, TIERS } from '../../../domain/access/tiers.js';
import type { UserPrincipal } from '../../../platform/auth/access/principal.js';
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

export class WhoAmIReply {
  @ApiProperty({ type: UserReply, description: 'The account, with the role of its record.' }) user!: UserReply;
  @ApiProperty({ enum: ROLES, description: 'The role that counts: no more than the identity provider says.' }) role!: Role;
  @ApiProperty({
    type: Object, additionalProperties: { type: 'string', enum: ['all', 'own'] },
    description: 'What this role may do, by the keys of `docs/permissions.md`. What is not named is denied.',
  })
  permissions!: Readonly<Record<string, Reach>>;
  @ApiProperty({ type: HomeReply }) organization!: HomeReply;
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

export function presentWhoAmI(
  user: UserReply, { role, hasSubscription }: UserPrincipal, home: HomeRow, session: SessionRow | undefined,
): WhoAmIReply {
  const { id, name, tenantId, tier, subscriptionActive } = home;
  const keys = (Object.keys(ACCESS) as AccessKey[]).map((key) => [key, reachOf(key, role)] as const);
  const permissions = Object.fromEntries(keys.filter((pair): pair is readonly [AccessKey, Reach] => pair[1] !== 'denied'));
  return {
    user, role, permissions, organization: { id, name },
    ...(tenantId === null ? {} : {
      tenant: {
        id: tenantId,
        tier: effectiveTier({
          tier: tier!, active: subscriptionActive!, ...(hasSubscription === undefined ? {} : { claimed: hasSubscription }),
        }),
      },
    }),
    ...(session === undefined ? {} : {
      session: {
        id: session.id, method: session.method, createdAt: session.createdAt.toISOString(), expiresAt: session.expiresAt.toISOString(),
      },
    }),
  };
}
