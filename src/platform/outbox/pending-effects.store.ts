import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import type { Tx } from '../database/transaction/tx.js';
import type { EffectKind } from './effects.js';

/** Effects about one person: their payload has a member `userId`. */
export interface EffectsAbout {
  readonly organizationId: string;
  readonly userId: string;
  readonly kind: EffectKind;
}

const THEIRS = `organization_id = $1 and kind = $2 and payload ->> 'userId' = $3`;

/** What still waits in the outbox, for whoever has ordered it. */
@Injectable()
export class PendingEffects {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  async isWaiting({ organizationId, kind, userId }: EffectsAbout): Promise<boolean> {
    const rows = await this.dataSource.query<unknown[]>(
      `select 1 as one from outbox where ${THEIRS} limit 1`, [organizationId, kind, userId],
    );
    return rows.length > 0;
  }

  /** Those that wait are tried at the worker's next look, the given up ones too. @returns whether there are any */
  async tryAgain(tx: Tx, { organizationId, kind, userId }: EffectsAbout): Promise<boolean> {
    const rows = await tx.query(
      `update outbox set available_at = clock_timestamp() where ${THEIRS} returning 1 as one`, [organizationId, kind, userId],
    );
    return rows.length > 0;
  }
}
