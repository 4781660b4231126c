import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { MaintenanceMode } from '../audit/maintenance-mode.js';
import { serverVersion } from '../config/server-version.js';
import { Metrics, reading, type Reading } from '../metrics/metrics.js';
import { MIGRATION_NAMES } from './data-source.js';
import { Heartbeat } from './faults/heartbeat.service.js';
import { Leadership } from './leadership/leadership.js';
import { ReservedPool } from './reserved-pool.js';

/** How this server stands to its database, from memory. */
@Injectable()
export class DatabaseReadings {
  constructor(
    @InjectDataSource() calls: DataSource,
    reserve: ReservedPool,
    leadership: Leadership,
    heartbeat: Heartbeat,
    maintenance: MaintenanceMode,
    metrics: Metrics,
  ) {
    const info = reading('countersign_info', 1, { version: serverVersion(), schema: MIGRATION_NAMES.at(-1)! });
    metrics.watch(() => {
      const { writtenSecondsAgo: written, clockSkewSeconds: skew } = heartbeat;
      return [
        info,
        ...poolReadings('calls', calls),
        ...poolReadings('reserve', reserve.dataSource),
        reading('countersign_leader', Number(leadership.isLeader), {}),
        reading('countersign_maintenance', Number(maintenance.because !== undefined), {}),
        ...(written === undefined ? [] : [reading('countersign_database_write_age_seconds', written, {})]),
        ...(skew === undefined ? [] : [reading('countersign_clock_skew_seconds', skew, {})]),
      ];
    });
  }
}

function poolReadings(pool: string, { driver }: DataSource): Reading[] {
  const { totalCount, idleCount, waitingCount } = (driver as unknown as { readonly master: Pool }).master;
  return [
    reading('countersign_pool_connections', totalCount - idleCount, { pool, state: 'busy' }),
    reading('countersign_pool_connections', idleCount, { pool, state: 'idle' }),
    reading('countersign_pool_waiting', waitingCount, { pool }),
  ];
}
