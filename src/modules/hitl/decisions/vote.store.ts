import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import type { HitlRequestEntity } from '../requests/hitl-request.entity.js';

export interface NewVote {
  /** A user's id, or `root`. */
  voter: string;
  note: string | null;
  /** Id of the vote's audit entry. */
  entryId: string;
}

/** Approvals of one version of a request. Votes for earlier versions are kept and count for nothing. */
@Injectable()
export class VoteStore {
  /** Who approved the present version, in the order of the votes. */
  async voters(tx: Tx, { organizationId, id, version, digest }: HitlRequestEntity): Promise<string[]> {
    const rows = await tx.query<{ voter: string }>(
      `select voter from hitl_votes where organization_id = $1 and request_id = $2 and version = $3 and digest = $4
       order by voted_at, voter`,
      [organizationId, id, version, digest],
    );
    return rows.map(({ voter }) => voter);
  }

  /** Adds a vote. A voter who votes again, because the vote now decides, keeps the first one. */
  async add(tx: Tx, { organizationId, id, version, digest }: HitlRequestEntity, { voter, note, entryId }: NewVote): Promise<void> {
    await tx.query(
      `insert into hitl_votes (organization_id, request_id, version, digest, voter, note, entry_id, voted_at)
       values ($1, $2, $3, $4, $5, $6, $7, clock_timestamp()) on conflict do nothing`,
      [organizationId, id, version, digest, voter, note, entryId],
    );
  }
}
