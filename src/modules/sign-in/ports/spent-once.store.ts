import { Injectable } from '@nestjs/common';
import { Janitor, cleanupStep } from '../../../platform/database/janitor.service.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { SealedBox } from '../../../platform/secrets/sealed-box.js';

/** What is good for one use: a state of signing in, a passkey's challenge, a logout token. */
export type SpentKind = 'state' | 'challenge' | 'logout-token';
/** What is known for a while to have ended: by a digest that says nothing of whom. */
export type EndedKind = 'provider-user' | 'provider-session';

/** Keeps the advisory locks on what is remembered apart from others. */
const REMEMBERED_LOCK = 4714;

/** How long what has ended is still shown, and an ended session's cookie still known for one. */
const KEPT_AFTER_END = '30 days';

/** What of signing in is spent. Each statement deletes at most `$1` rows. */
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
 * Single use without a row for whoever only asks: a row comes when something is used, and goes when that would not be taken any more
 * anyway.
 */
@Injectable()
export class SpentOnceStore {
  constructor(
    private readonly box: SealedBox,
    janitor: Janitor,
  ) {
    for (const sweep of SPENT.map((statement) => cleanupStep(statement))) janitor.register(sweep);
  }

  /**
   * Uses it up, if this work commits. Of two at once the second waits for the first.
   *
   * @param until when it would be refused for its age
   * @returns whether this was its first use
   */
  async spend(tx: Tx, kind: SpentKind, value: string, until: Date): Promise<boolean> {
    const rows = await tx.query('insert into spent_once (digest, until) values ($1, $2) on conflict do nothing returning digest', [
      this.box.mac('spent-once', kind, value), until,
    ]);
    return rows.length > 0;
  }

  /**
   * For a work that holds its heads: whoever remembers this and whoever asks for it, to do something that it forbids, come one after
   * the other, the second behind the first one's commit.
   */
  async lock(tx: Tx, kind: EndedKind, value: string): Promise<void> {
    await tx.query('select pg_advisory_xact_lock(hashtextextended($1, $2))', [this.box.mac('spent-once', kind, value), REMEMBERED_LOCK]);
  }

  /** Known until then, however long it was known before. */
  async remember(tx: Tx, kind: EndedKind, value: string, until: Date): Promise<void> {
    await tx.query(
      'insert into spent_once (digest, until) values ($1, $2) on conflict (digest) do update set until = excluded.until',
      [this.box.mac('spent-once', kind, value), until],
    );
  }

  /** Until when it is known; undefined where it is not, or no longer. */
  async rememberedUntil(tx: Tx, kind: EndedKind, value: string): Promise<Date | undefined> {
    const [row] = await tx.query<{ until: Date }>(
      'select until from spent_once where digest = $1 and until > clock_timestamp()', [this.box.mac('spent-once', kind, value)],
    );
    return row?.until;
  }
}
