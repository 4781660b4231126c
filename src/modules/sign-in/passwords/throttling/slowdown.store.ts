import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../../platform/database/transaction/tx.js';

/** How many attempts are free, and what happens then. */
export interface SlowdownTerms {
  readonly free: number;
  /** How long attempts count, in seconds: since the last one, or, of a `window`, since the first one. */
  readonly countedSeconds: number;
  /** After the free attempts: a pause that doubles with each attempt, up to this number of seconds; or the rest of the window. */
  readonly then: { readonly pauseToSeconds: number } | 'window';
}

// An attempt counts before it is judged, in one statement, so that of a thousand at once, on any number of servers, no more than
// the free ones are judged. One that comes too early is not counted.
const TAKE = `
  insert into sign_in_slowdowns as s (subject, failures, next_at, until)
  values ($1, 1, clock_timestamp(), clock_timestamp() + make_interval(secs => $2))
  on conflict (subject) do update set
    failures = case when s.until <= clock_timestamp() then 1 else s.failures + 1 end,
    next_at = case
      when s.until <= clock_timestamp() or s.failures + 1 < $3 then clock_timestamp()
      when $4::integer is null then s.until
      else clock_timestamp() + make_interval(secs => least($4::integer, power(2, least(s.failures + 1 - $3, 30)))) end,
    until = case when $4::integer is null and s.until > clock_timestamp() then s.until
      else clock_timestamp() + make_interval(secs => $2) end
  where s.until <= clock_timestamp() or s.next_at <= clock_timestamp()
  returning s.failures`;

/** Rows of slow-downs. A row is deleted once its attempts count no longer. */
@Injectable()
export class SlowdownStore {
  /** Counts an attempt. @returns the seconds to wait, where it comes too early */
  async take(tx: Tx, subject: string, { free, countedSeconds, then }: SlowdownTerms): Promise<number | undefined> {
    const pause = then === 'window' ? null : then.pauseToSeconds;
    const taken = await tx.query(TAKE, [subject, countedSeconds, free, pause]);
    if (taken.length > 0) return undefined;
    const [row] = await tx.query<{ wait: number }>(
      `select greatest(1, ceil(extract(epoch from next_at - clock_timestamp())))::integer as wait
       from sign_in_slowdowns where subject = $1`,
      [subject],
    );
    return row?.wait ?? 1;
  }

  /** One attempt less: it was no failure, or was never judged. */
  async giveBack(tx: Tx, subject: string): Promise<void> {
    await tx.query(
      `update sign_in_slowdowns set failures = greatest(failures - 1, 0), next_at = clock_timestamp() where subject = $1`, [subject],
    );
  }

  /** One attempt less at what it was not about. The pause stays, or whoever keeps several on their way could end it. */
  async uncount(tx: Tx, subject: string): Promise<void> {
    await tx.query('update sign_in_slowdowns set failures = greatest(failures - 1, 0) where subject = $1', [subject]);
  }

  async forget(tx: Tx, subject: string): Promise<void> {
    await tx.query('delete from sign_in_slowdowns where subject = $1', [subject]);
  }
}
