import type { Connection } from '../connection.js';
import type { BodyOf, CallOptions, QueryOf } from '../operation.js';

/** Teams and who belongs to them. */
export class Teams {
  constructor(private readonly connection: Connection) {}

  /** Newest first. */
  list(query?: QueryOf<'GET /api/v1/teams'>, options?: CallOptions) {
    return this.connection.request('GET /api/v1/teams', { query, ...options });
  }

  /** Makes one. */
  create(body: BodyOf<'POST /api/v1/teams'>, options?: CallOptions) {
    return this.connection.request('POST /api/v1/teams', { body, ...options });
  }

  /** One team with its members. */
  get(id: string, options?: CallOptions) {
    return this.connection.request('GET /api/v1/teams/{id}', { path: { id }, ...options });
  }

  /** Changes name or description. */
  update(id: string, body: BodyOf<'PATCH /api/v1/teams/{id}'>, options?: CallOptions) {
    return this.connection.request('PATCH /api/v1/teams/{id}', { path: { id }, body, ...options });
  }

  /** CONFLICT while agents belong to it. */
  remove(id: string, options?: CallOptions) {
    return this.connection.request('DELETE /api/v1/teams/{id}', { path: { id }, ...options });
  }

  /** Or says the role of a member anew. */
  addMember(id: string, body: BodyOf<'POST /api/v1/teams/{id}/members'>, options?: CallOptions) {
    return this.connection.request('POST /api/v1/teams/{id}/members', { path: { id }, body, ...options });
  }

  /** The person keeps the account. */
  removeMember(id: string, userId: string, options?: CallOptions) {
    return this.connection.request('DELETE /api/v1/teams/{id}/members/{userId}', { path: { id, userId }, ...options });
  }
}

/** People, their invitations and their keys. */
export class Users {
  constructor(private readonly connection: Connection) {}

  /** Active accounts, unless `status` asks for others. */
  list(query?: QueryOf<'GET /api/v1/users'>, options?: CallOptions) {
    return this.connection.request('GET /api/v1/users', { query, ...options });
  }

  /** An account; how its owner signs in is said by an invitation. */
  create(body: BodyOf<'POST /api/v1/users'>, options?: CallOptions) {
    return this.connection.request('POST /api/v1/users', { body, ...options });
  }

  /** Who calls. */
  me(options?: CallOptions) {
    return this.connection.request('GET /api/v1/users/me', { ...options });
  }

  /** One account. */
  get(id: string, options?: CallOptions) {
    return this.connection.request('GET /api/v1/users/{id}', { path: { id }, ...options });
  }

  /** Changes name, picture or role. */
  update(id: string, body: BodyOf<'PATCH /api/v1/users/{id}'>, options?: CallOptions) {
    return this.connection.request('PATCH /api/v1/users/{id}', { path: { id }, body, ...options });
  }

  /** Ends its keys and sessions. The profile stays until it is erased. */
  close(id: string, options?: CallOptions) {
    return this.connection.request('DELETE /api/v1/users/{id}', { path: { id }, ...options });
  }

  /** Erases the personal data of a user. Irreversible. */
  eraseData(id: string, options?: CallOptions) {
    return this.connection.request('DELETE /api/v1/users/{id}/data', { path: { id }, ...options });
  }

  /** Single use, for 72 hours. `link` is there where no mail is sent. */
  invite(body: BodyOf<'POST /api/v1/users/invitations'>, options?: CallOptions) {
    return this.connection.request('POST /api/v1/users/invitations', { body, ...options });
  }

  /** Those that are open. */
  listInvitations(query?: QueryOf<'GET /api/v1/users/invitations'>, options?: CallOptions) {
    return this.connection.request('GET /api/v1/users/invitations', { query, ...options });
  }

  /** Its link is dead at once. */
  voidInvitation(id: string, options?: CallOptions) {
    return this.connection.request('DELETE /api/v1/users/invitations/{id}', { path: { id }, ...options });
  }

  /** Live personal keys, without the keys themselves. */
  listKeys(id: string, query?: QueryOf<'GET /api/v1/users/{id}/keys'>, options?: CallOptions) {
    return this.connection.request('GET /api/v1/users/{id}/keys', { path: { id }, query, ...options });
  }

  /** A personal key with the rights of its user at each moment. `secret` is shown this once. */
  createKey(id: string, body: BodyOf<'POST /api/v1/users/{id}/keys'>, options?: CallOptions) {
    return this.connection.request('POST /api/v1/users/{id}/keys', { path: { id }, body, ...options });
  }

  /** Ends a key at once. */
  revokeKey(id: string, keyId: string, options?: CallOptions) {
    return this.connection.request('DELETE /api/v1/users/{id}/keys/{keyId}', { path: { id, keyId }, ...options });
  }
}
