import { Client } from './client.js';

/** The log. Queries need a member, the rest an administrator. */
export class Audit extends Client {
  /** Newest first, 50 unless `limit` says otherwise. */
  readonly list = this.byQuery('GET /api/v1/audit');
  /** One entry. */
  readonly get = this.byId('GET /api/v1/audit/{id}');
  /** That it stands under a signed checkpoint. CONFLICT until one covers it, some seconds later. */
  readonly proof = this.byId('GET /api/v1/audit/{id}/proof');
  /** Verifies every chain that the caller may see, or one agent's; once a minute. Give a large log a long `timeoutMs`. */
  readonly verify = this.byQuery('GET /api/v1/audit/verify');
  /** The keys that sign checkpoints. Public. */
  readonly keys = this.plain('GET /api/v1/audit/keys');
  /** Signed checkpoints, newest first. Public. */
  readonly checkpoints = this.byQuery('GET /api/v1/audit/checkpoints');
  /** What was erased when, without the values. */
  readonly listErasures = this.byQuery('GET /api/v1/audit/erasures');
  /** Erases texts wherever they stand. Irreversible; `dryRun` counts first. */
  readonly erase = this.byBody('POST /api/v1/audit/erasures');
  /** As the second person that a large erasure needs. */
  readonly confirmErasure = this.byId('POST /api/v1/audit/erasures/{id}/confirm');
}
