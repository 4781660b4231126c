import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { SharedReads } from '../../../platform/database/batching/shared-reads.js';
import { Statements } from '../../../platform/database/statements/statements.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';

/** What a secret is for. Its value is read by `ConnectorSecrets` alone. */
export interface SecretTerms {
  readonly name: string;
  /** Sorted. */
  readonly origins: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface SealedSecret extends Pick<SecretTerms, 'name' | 'origins'> {
  readonly sealed: Buffer;
}

const TERMS = 'name, origins, created_at as "createdAt", updated_at as "updatedAt"';

/** Rows of secrets. A change locks the head of the organization's chain, as one of a definition that names them does. */
@Injectable()
export class SecretStore {
  private readonly shared = new SharedReads<SealedSecret[]>();

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly statements: Statements,
  ) {}

  list(organizationId: string): Promise<SecretTerms[]> {
    return this.dataSource.query(`select ${TERMS} from secrets where organization_id = $1 order by name`, [organizationId]);
  }

  /** Those of them that there are, as they are when it is asked, or later: calls that ask the same meanwhile share a read. */
  find(organizationId: string, names: readonly string[]): Promise<SealedSecret[]> {
    return this.shared.read(JSON.stringify([organizationId, ...names]), () => this.statements.byKey(
      'select name, origins, sealed from secrets where organization_id = $1 and name = any ($2)', [organizationId, names],
    ));
  }

  async read(tx: Tx, organizationId: string, names: readonly string[]): Promise<SecretTerms[]> {
    return tx.query<SecretTerms & Record<string, unknown>>(
      `select ${TERMS} from secrets where organization_id = $1 and name = any ($2)`, [organizationId, names],
    );
  }

  /** Sets value and origins, of a new secret or of one that is there. */
  async put(tx: Tx, organizationId: string, { name, origins, sealed }: SealedSecret, now: Date): Promise<SecretTerms> {
    const [row] = await tx.query<SecretTerms & Record<string, unknown>>(
      `insert into secrets (organization_id, name, origins, sealed, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)
       on conflict (organization_id, name) do update
         set origins = excluded.origins, sealed = excluded.sealed, updated_at = excluded.updated_at
       returning ${TERMS}`,
      [organizationId, name, origins, sealed, now],
    );
    return row!;
  }

  async remove(tx: Tx, organizationId: string, name: string): Promise<boolean> {
    const rows = await tx.query('delete from secrets where organization_id = $1 and name = $2 returning name', [organizationId, name]);
    return rows.length > 0;
  }
}
