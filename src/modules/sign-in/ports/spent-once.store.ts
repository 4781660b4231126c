import { Injectable } from '@nestjs/common';
import { Janitor, cleanupStep } from '../../../platform/database/janitor.service.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { SealedBox } from '../../../platform/secrets/sealed-box.js';

/** Values that are good for one use: a state of signing in, a passkey's challenge, a logout token. */
export type SpentKind = 'state' | 'challenge' | 'logout-token' | 'chat-link' | 'chat-call';
/** Users and sessions of the provider that are known for a while to have ended: by a digest that names nobody. */
export type EndedKind = 'provider-user' | 'provider-session';

/** Keeps these advisory locks apart from others. */
const SUBJECT_LOCK = 4714;

/** How long ended sessions and invitations are still shown, and an ended session's cookie is still recognized. */
const KEPT_AFTER_END = '30 days';

/** Deletes rows of signing in that are no longer needed. Each statement deletes at most `$1` rows. */
const SPENT = [
  `delete from sessions where (organization_id, id) in
     (select organization_id, id from sessions where ended_at < clock_timestamp() - interval '${KEPT_AFTER_END}' limit $1)`,
  `delete from invitations where (organization_id, id) in
     (select organization_id, id from invitations
      where coalesce(accepted_at, voided_at, expires_at) < clock_timestamp() - interval '${KEPT_AFTER_END}' limit $1)`,
  'delete from sign_in_slowdowns where subject in (select subject from sign_in_slowdowns where until < clock_timestamp() limit $1)',
  'delete from spent_once where digest in (select digest from spent_once where until < clock_timestamp() limit $1)',
];

/**
 * Single use. A value that is only handed out has no row: its row is inserted when the value is used, and deleted once the value would be
 * refused for its age.
 */
@Injectable()
export class SpentOnceStore {
  constructor(
    private readonly box: SealedBox,
    janitor: Janitor,
  ) {
    for (const step of SPENT.map((statement) => cleanupStep(statement))) janitor.register(step);
  }

  /**
   * Uses a value up, if this work commits. Of two at once the second waits for the first.
   *
   * @param until when the value would be refused for its age
   * @returns whether this was its first use
   */
  async spend(tx: Tx, kind: SpentKind, value: string, until: Date): Promise<boolean> {
    const rows = await tx.query('insert into spent_once (digest, until) values ($1, $2) on conflict do nothing returning digest', [
      this.box.mac('spent-once', kind, value), until,
    ]);
    return rows.length > 0;
  }

  /**
   * Orders work that notes the end of this value with work that asks whether it has ended: the second waits for the first one's commit.
   * Called after the heads are locked.
   */
  async lock(tx: Tx, kind: EndedKind, value: string): Promise<void> {
    await tx.query('select pg_advisory_xact_lock(hashtextextended($1, $2))', [this.box.mac('spent-once', kind, value), SUBJECT_LOCK]);
  }

  /** Notes that this value has ended, until the given time, whatever was noted before. */
  async note(tx: Tx, kind: EndedKind, value: string, until: Date): Promise<void> {
    await tx.query(
      'insert into spent_once (digest, until) values ($1, $2) on conflict (digest) do update set until = excluded.until',
      [this.box.mac('spent-once', kind, value), until],
    );
  }

  /** Until when the end of this value is known; undefined where it is not, or no longer. */
  async knownUntil(tx: Tx, kind: EndedKind, value: string): Promise<Date | undefined> {
    const [row] = await tx.query<{ until: Date }>(
      'select until from spent_once where digest = $1 and until > clock_timestamp()', [this.box.mac('spent-once', kind, value)],
    );
    return row?.until;
  }
}
