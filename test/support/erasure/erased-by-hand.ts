import { randomBytes } from 'node:crypto';
import { organizationChain } from '../../../src/domain/audit/entry/chain.js';
import type { Disclosure } from '../../../src/domain/audit/entry/commitments.js';
import { blanksIn, eraseIn } from '../../../src/domain/audit/erasure/erase-disclosures.js';
import { type ListedBlank, sortedBlanks } from '../../../src/domain/audit/erasure/search-entry.js';
import { SignedErasures } from '../../../src/modules/audit/erasures/signed-erasures.service.js';
import { asService } from '../../../src/platform/auth/access/call-context.js';
import { CredentialSources } from '../../../src/platform/auth/credentials/credential-source.js';
import { createDataSource } from '../../../src/platform/database/data-source.js';
import { IdempotencyKeys } from '../../../src/platform/database/transaction/idempotency.js';
import { UnitOfWork } from '../../../src/platform/database/transaction/unit-of-work.js';
import { OutboxSignal } from '../../../src/platform/outbox/outbox-signal.js';
import type { TestDatabase } from '../servers/database.js';

/** Entries of which all values are to go; `disclosures` as they are in the log or in an archive. */
export interface Erasing {
  readonly id: string;
  readonly hash: string;
  readonly disclosures: string;
}

/** Records the erasure of all values of entries, signs it as a server does, and blanks what of them is in the log. */
export async function erasedByHand(
  database: TestDatabase, organizationId: string, entries: readonly Erasing[], auditSigningKey: string,
): Promise<void> {
  const dataSource = createDataSource({ url: database.url, poolSize: 1, connectTimeoutMs: 10_000 });
  await dataSource.initialize();
  try {
    const keys = new IdempotencyKeys({ encryptionKey: randomBytes(32).toString('base64') });
    const work = new UnitOfWork(dataSource, new CredentialSources(), keys, new OutboxSignal());
    const chain = organizationChain(organizationId);
    const signed = new SignedErasures({ auditSigningKey });
    await asService('cli', () => work.run({ chains: [chain], leavesFacts: true }, async (tx) => {
      const erased = sortedBlanks(entries.flatMap(blankedOf));
      await signed.record(tx, organizationId, { userId: 'usr_nobody', erasureId: 'ers_by_hand', erased });
      const blanked = entries.map(({ disclosures }) => blank(disclosures));
      await tx.query('select erase_disclosures_v1($1, $2, $3, $4)', [
        organizationId, entries.map(({ id }) => id), entries.map(({ disclosures }) => disclosures), blanked,
      ]);
    }));
  } finally {
    await dataSource.destroy();
  }
}

/** What an erasure of all values of an entry has to list. */
export const blankedOf = ({ hash, disclosures }: Pick<Erasing, 'hash' | 'disclosures'>): ListedBlank[] =>
  blanksIn(blank(disclosures)).map(([d, place]) => [hash, d, place]);

const digestsIn = (disclosures: string): string[] => (JSON.parse(disclosures) as Disclosure[]).map(({ d }) => d);

export const blank = (disclosures: string): string => eraseIn(disclosures, new Set(digestsIn(disclosures)), new Set());
