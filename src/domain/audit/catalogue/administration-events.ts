import type { JsonValue } from '../../json.js';
import { event, flag, optional, plain, value } from './event-definition.js';

const person = plain<string>({ subject: true });
const email = value<string>({ personal: true });
const personName = value<string>({ personal: true });
const avatarUrl = value<string>({ personal: true });

export const AUTH_EVENTS = {
  'auth.root_key_used': event('platform',
    'The root key was used: one entry for each changing call, reads at most once a minute and address.',
    { method: plain<string>(), path: value<string>(), count: optional(plain<number>()) }),
  'auth.agent_jwt_issued': event('agent', 'The agent was given a token.', {
    epoch: plain<number>(), expiresAt: plain<string>(), jti: optional(plain<string>()),
    /** Plain: a code (registration, issued, refresh, activation, exchange). */
    occasion: optional(plain<string>()),
    capabilities: optional(plain<readonly string[]>()),
    /** The agent key that it was exchanged for. */
    keyId: optional(plain<string>()),
  }),
  'auth.login': event('organization', 'A person signed in; the actor is who.', {
    sessionId: optional(plain<string>()),
    /** Plain: a code (provider, passkey, password). */
    method: plain<string>(),
    /** Of the identity provider, where one vouched for who it is. */
    issuer: optional(plain<string>()),
  }),
  'auth.chat_linked': event('organization', "A person linked a chat account to theirs; the actor is who.", {
    chatAccountId: plain<string>(),
    /** Plain: a code (slack). */
    chat: plain<string>(),
  }),
  'auth.chat_unlinked': event('organization', 'A link between a chat account and a person ended.', {
    chatAccountId: plain<string>(), userId: person,
  }),
  'auth.logout': event('organization', 'A session ended.', {
    sessionId: optional(plain<string>()), userId: optional(person),
    /** Plain: a code (asked, revoked, idle, expired, role_lost, closed, erased, provider, provider_refused, replaced, recovered). */
    reason: optional(plain<string>()),
  }),
  'auth.credential_changed': event('organization', 'A way for a person to come in was added, removed or replaced.', {
    userId: person,
    /** Plain: a code (provider, passkey, password). */
    method: plain<string>(),
    /** Plain: a code (added, removed, replaced). */
    change: plain<string>(),
    credentialId: optional(plain<string>()),
  }),
  'auth.claims_changed': event('organization', 'The identity provider says something else of a person: the claims that changed.', {
    userId: person, role: optional(plain<string>()), hasSubscription: optional(plain<boolean>()),
  }),
  'auth.failed': event('platform',
    'Authentication failed: the first of a minute and address at once, the rest as one entry with their count.', {
    count: plain<number>(),
    /** Plain: a code; `several` where they differ. */
    reason: plain<string>(),
    method: optional(plain<string>()),
    /** Where so many addresses failed that their networks are counted, instead of the origin's address. */
    network: optional(value<string>()),
  }, 'failure'),
};

export const ADMIN_EVENTS = {
  'admin.key_rotated': event('platform', 'The root key was replaced; the old one is dead.', { keyId: optional(plain<string>()) }),
  'admin.user_created': event('organization', 'A person was given an account.', {
    userId: person, email: optional(email), name: optional(personName), avatarUrl: optional(avatarUrl),
    role: plain<string>(),
    /** Plain: a code (made, provider, invitation). */
    occasion: optional(plain<string>()),
  }),
  'admin.user_updated': event('organization', "A person's account was changed: the members that were set.", {
    userId: person, email: optional(email), name: optional(personName), avatarUrl: optional(avatarUrl),
    role: optional(plain<string>()), status: optional(plain<string>()),
    cleared: optional(plain<readonly string[]>()),
  }),
  'admin.user_deleted': event('organization', "A person's account is closed: keys and sessions are dead.", { userId: person }),
  'admin.user_invited': event('organization', 'A person was invited.', {
    invitationId: plain<string>(),
    /** Whose account is there already. */
    userId: optional(person),
    email: value<string>(), role: plain<string>(), expiresAt: plain<string>(),
    /** Plain: a code (mail, hand). */
    delivery: plain<string>(),
  }),
  'admin.invitation_ended': event('organization', 'An invitation is good for nothing any more.', {
    invitationId: plain<string>(),
    /** Plain: a code (accepted, voided). */
    change: plain<string>(),
  }),
  'admin.user_key_created': event('organization', 'A personal key was made.', {
    keyId: plain<string>(), userId: person, name: optional(personName), expiresAt: optional(plain<string>()),
  }),
  'admin.user_key_revoked': event('organization', 'A personal key is dead.', { keyId: plain<string>(), userId: person }),
  'admin.organization_created': event('organization', 'An organization was made. The first entry of its chain.', {
    organizationId: plain<string>(), name: value<string>(), tenantId: optional(plain<string>()),
    settings: optional(value<JsonValue>()),
  }),
  'admin.organization_updated': event('organization', 'Name or settings of an organization were changed.', {
    organizationId: plain<string>(), name: optional(value<string>()), settings: optional(value<JsonValue>()),
  }),
  'admin.team_changed': event('organization', 'A team, or who belongs to it, was changed.', {
    teamId: plain<string>(),
    /** Plain: a code (created, updated, deleted, member_added, member_updated, member_removed). */
    change: plain<string>(),
    name: optional(value<string>()), description: optional(value<string>()),
    /** Names of members that now have no value. */
    cleared: optional(plain<readonly string[]>()),
    userId: optional(person), role: optional(plain<string>()),
  }),
  'admin.channel_configured': event('organization', 'A notification channel was set up, changed or removed; never its secrets.', {
    channel: plain<string>(),
    /** Plain: a code (set, removed, off). `off`: its receiver does not want any more, so the service switched it off. */
    change: plain<string>(),
    settings: optional(value<JsonValue>()),
  }),
  'admin.secret_changed': event('organization', 'A secret for connectors was set, removed or sealed anew; never its value.', {
    secretName: plain<string>(),
    /** Plain: a code (set, removed, resealed). */
    change: plain<string>(),
    origins: optional(value<readonly string[]>()),
    /** SHA-256 of the value as it is sealed, in hexadecimal: of the value it tells nothing. */
    sealedDigest: optional(plain<string>()),
  }),
  'admin.secret_rotated': event('platform', 'A step of replacing JWT_SECRET or ENCRYPTION_KEY; never the secret.', {
    /** Plain: the variable. */
    secretName: plain<string>(),
    /** Plain: a code (accepted, in_use, resealed, ended, leaked). */
    step: plain<string>(),
    /** Of the key that the step is about, as `countersign secrets status` shows it. */
    keyId: plain<string>(),
    /** That were sealed anew. */
    rows: optional(plain<number>()),
  }),
  'admin.tenant_changed': event('platform', 'A tenant or its subscription was changed.', {
    tenantId: plain<string>(),
    /** Plain: a code (created, updated, deleted, subscription). */
    change: plain<string>(),
    name: optional(value<string>()), tier: optional(plain<string>()), active: flag(),
    subscriptionActive: optional(plain<boolean>()),
  }),
  'admin.stop_started': event('agent_or_organization', 'A stop is in force: nothing begins in its scope.', {
    stopId: plain<string>(), scope: plain<'agent' | 'organization' | 'all'>(),
    targetId: optional(plain<string>()), reason: value<string>(),
  }),
  'admin.stop_ended': event('agent_or_organization', 'A stop was lifted.', {
    stopId: plain<string>(), scope: plain<'agent' | 'organization' | 'all'>(),
    targetId: optional(plain<string>()),
  }),
  'admin.audit_exported': event('organization', 'The audit log was exported in bulk.', {
    from: optional(plain<string>()), to: optional(plain<string>()), agentId: optional(plain<string>()),
    format: plain<string>(), count: optional(plain<number>()),
  }),
  'admin.audit_retention_sweep': event('organization', 'Old entries were archived and cut off; where each chain goes on.', {
    sweepId: plain<string>(), before: plain<string>(),
    chains: plain<readonly { chain: string; seq: number; hash: string; count: number }[]>(),
    /** Digests of the two archive objects. */
    archive: plain<{ skeleton: string; disclosures: string }>(),
    /** The organization's anchored checkpoint below which all of it is cut, and the platform's that carries it; roots in base64. */
    checkpoint: plain<{ size: number; root: string; platformSize: number; platformRoot: string }>(),
  }),
  'admin.signing_key_rotated': event('platform', 'The log is signed with another key from here on.', {
    keyId: plain<string>(), previousKeyId: optional(plain<string>()),
    /** By which the key before has vouched for it; the first one has nobody before it. */
    keyNote: optional(plain<string>()),
  }),
  'admin.recovered': event('organization', 'A restored database was put into service; what was open in it was closed.', {
    executions: optional(plain<number>()), requests: optional(plain<number>()), tasks: optional(plain<number>()),
    agents: optional(plain<number>()), sessions: optional(plain<number>()),
    effects: optional(plain<number>()), lossAccepted: flag(),
    /** The newest checkpoint that an anchor had of what is lost, and the signed note by which that no longer counts. */
    lost: optional(plain<{ size: number; root: string; note: string }>()),
  }),
};

export const PRIVACY_EVENTS = {
  'gdpr.export_requested': event('organization', "A person's data was exported.", {
    userId: person, format: optional(plain<string>()), count: optional(plain<number>()),
  }),
  'gdpr.erasure_requested': event('organization', 'An erasure was asked for; what it erases is recorded as it goes.', {
    userId: optional(person), erasureId: plain<string>(),
    /** How many texts are to be erased. */
    count: plain<number>(),
    reason: optional(value<string>()),
  }),
  'gdpr.erasure_confirmed': event('organization', 'A second person confirmed an erasure.', {
    erasureId: plain<string>(),
    /** Plain: the id of the person who asked. */
    askedBy: plain<string>({ subject: true }),
  }),
  'gdpr.erasure_executed': event('organization', 'Committed values were erased; what lists them is never erased itself.', {
    userId: optional(person), erasureId: optional(plain<string>()),
    /** Of each value: entry hash, commitment, and the digest of where it stands since. Sorted. */
    erased: plain<readonly (readonly [string, string, string])[]>(),
    reason: optional(value<string>()),
  }),
};
