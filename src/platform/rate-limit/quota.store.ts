import { Injectable } from '@nestjs/common';
import { Janitor, cleanupStep } from '../database/janitor.service.js';
import type { NamedStatement } from '../database/statements/named-statement.js';
import { Statements } from '../database/statements/statements.js';
import type { QuotaLease, QuotaSource } from './leased-quotas.js';

const LEASE: NamedStatement = {
  name: 'lease-quota-1',
  text: `select granted, taken, ends_in_ms as "endsInMs" from lease_quota_v1($1, $2, $3, $4)`,
};

/** The shared counts: a row for each principal or address that called lately. */
@Injectable()
export class QuotaStore implements QuotaSource {
  constructor(
    private readonly statements: Statements,
    janitor: Janitor,
  ) {
    // A minute later, so that the rows of those who keep calling stay where they are.
    janitor.register(cleanupStep(
      `delete from rate_quotas where subject in
         (select subject from rate_quotas where until < clock_timestamp() - interval '1 minute'
          order by until limit $1 for update skip locked)`,
    ));
  }

  async lease(subject: string, limit: number, wanted: number, windowSeconds: number): Promise<QuotaLease> {
    const [grant] = await this.statements.run<QuotaLease>(LEASE, [subject, limit, wanted, windowSeconds]);
    return grant!;
  }
}
