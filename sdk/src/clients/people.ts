import { Client } from './client.js';

/** Teams and who belongs to them. */
export class Teams extends Client {
  /** Newest first. */
  readonly list = this.byQuery('GET /api/v1/teams');
  /** Makes one. */
  readonly create = this.byBody('POST /api/v1/teams');
  /** One team with its members. */
  readonly get = this.byId('GET /api/v1/teams/{id}');
  /** Changes name or description. */
  readonly update = this.byIdAndBody('PATCH /api/v1/teams/{id}');
  /** CONFLICT while agents belong to it. */
  readonly remove = this.byId('DELETE /api/v1/teams/{id}');
  /** Or says the role of a member anew. */
  readonly addMember = this.byIdAndBody('POST /api/v1/teams/{id}/members');
  /** The person keeps the account. */
  readonly removeMember = this.byIds('DELETE /api/v1/teams/{id}/members/{userId}');
}

/** People, their invitations and their keys. */
export class Users extends Client {
  /** Active accounts, unless `status` asks for others. */
  readonly list = this.byQuery('GET /api/v1/users');
  /** An account; how its owner signs in is said by an invitation. */
  readonly create = this.byBody('POST /api/v1/users');
  /** Who calls. */
  readonly me = this.plain('GET /api/v1/users/me');
  /** One account. */
  readonly get = this.byId('GET /api/v1/users/{id}');
  /** Changes name, picture or role. */
  readonly update = this.byIdAndBody('PATCH /api/v1/users/{id}');
  /** Ends its keys and sessions. The profile stays until it is erased. */
  readonly close = this.byId('DELETE /api/v1/users/{id}');
  /** Erases the personal data of a user. Irreversible. */
  readonly eraseData = this.byId('DELETE /api/v1/users/{id}/data');
  /** Single use, for 72 hours. `link` is there where no mail is sent. */
  readonly invite = this.byBody('POST /api/v1/users/invitations');
  /** Those that are open. */
  readonly listInvitations = this.byQuery('GET /api/v1/users/invitations');
  /** Its link is dead at once. */
  readonly voidInvitation = this.byId('DELETE /api/v1/users/invitations/{id}');
  /** Live personal keys, without the keys themselves. */
  readonly listKeys = this.byIdAndQuery('GET /api/v1/users/{id}/keys');
  /** A personal key with the rights of its user at each moment. `secret` is shown this once. */
  readonly createKey = this.byIdAndBody('POST /api/v1/users/{id}/keys');
  /** Ends a key at once. */
  readonly revokeKey = this.byIds('DELETE /api/v1/users/{id}/keys/{keyId}');
}
