import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { randomBytes, randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { MaintenanceMode } from '../../audit/maintenance-mode.js';
import { serverVersion } from '../../config/server-version.js';
import { FAULT_DETAILS, faultOf } from '../../http/reply/database-faults.js';
import { unavailable } from '../../http/reply/failure.js';
import { LOGGER } from '../../logging/token.js';
import { ReservedPool } from '../reserved-pool.js';
import { ClockWatch } from './clock-watch.js';
import { DatabaseFaults } from './database-faults.js';

const BEAT_EVERY_MS = 2_000;
/** A write this long ago is lately: whoever asks later waits for the next. */
const LATELY_MS = 3_000;
/** What finds no room in pages that are there: stored beside the row, in new pages. */
const ROOM_BYTES = 64 * 1_024;

const BEAT = `insert into server_heartbeats (replica, version, beat_at, room) values ($1, $2, clock_timestamp(), $3)
  on conflict (replica) do update set beat_at = excluded.beat_at, room = excluded.room
  returning beat_at as now`;
const END = 'delete from server_heartbeats where replica = $1 or beat_at < clock_timestamp() - interval \'1 day\'';

/**
 * Writes a row of this replica's every two seconds: that a database answers does not say that it can write. Where something found no
 * room, or was refused because all is read-only, the next beat needs room too.
 */
@Injectable()
export class Heartbeat implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly replica = randomUUID();
  private writtenAt = -Infinity;
  private beating: Promise<void> | undefined;
  private failed = false;
  private isStopping = false;
  private readonly clock: ClockWatch;

  constructor(
    private readonly reserve: ReservedPool,
    private readonly faults: DatabaseFaults,
    private readonly maintenance: MaintenanceMode,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.clock = new ClockWatch(logger);
  }

  onApplicationBootstrap(): void {
    this.tick();
  }

  @Interval(BEAT_EVERY_MS)
  tick(): void {
    // In maintenance mode the database may be another one, and is left as it is.
    if (this.isStopping || this.maintenance.because !== undefined) return;
    void this.beat().catch(() => undefined);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.beating?.catch(() => undefined);
    if (this.maintenance.because === undefined) await this.reserve.run(END, [this.replica]).catch(() => undefined);
  }

  /** @throws Problem UNAVAILABLE, with what is wrong, when the database takes no write of this server's */
  async assertWrites(): Promise<void> {
    if (this.maintenance.because !== undefined) return;
    if (!this.faults.refusesWrites && performance.now() - this.writtenAt < LATELY_MS) return;
    await this.beat().catch((error: unknown) => {
      throw unavailable(faultOf(error)?.fault ?? 'cannot-write');
    });
  }

  /** Since the last write that succeeded, in seconds; undefined before the first. */
  get writtenSecondsAgo(): number | undefined {
    return this.writtenAt === -Infinity ? undefined : (performance.now() - this.writtenAt) / 1_000;
  }

  /** Between this server's clock and the database's, at the last beat; undefined before the first. */
  get clockSkewSeconds(): number | undefined {
    return this.clock.skewMs === undefined ? undefined : this.clock.skewMs / 1_000;
  }

  private beat(): Promise<void> {
    return (this.beating ??= this.write().finally(() => (this.beating = undefined)));
  }

  private async write(): Promise<void> {
    const [begun, asked] = [performance.now(), Date.now()];
    const needsRoom = this.faults.refusesWrites;
    try {
      const [row] = await this.reserve.run(BEAT, [this.replica, serverVersion(), needsRoom ? randomBytes(ROOM_BYTES) : null]);
      this.clock.see(row!.now as Date, asked, Date.now());
    } catch (error) {
      this.faults.note(error);
      if (!this.failed && faultOf(error) === undefined) this.logger.error({ err: error }, FAULT_DETAILS['cannot-write']);
      this.failed = true;
      throw error;
    }
    this.writtenAt = performance.now();
    if (needsRoom) this.faults.wrote(begun);
    if (this.failed) this.logger.info('the database takes writes again');
    this.failed = false;
  }
}
