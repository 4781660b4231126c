import type { JsonObject } from '../../../src/domain/json.js';
import type { ErasureTarget, PersonalData } from '../../../src/platform/audit/personal-data/personal-data-holders.js';
import type { TestDatabase } from '../servers/database.js';
import { startProduct } from '../servers/product-process.js';

/** What was changed and what was left, by kind, and in how many units of work. */
export interface Pass {
  readonly counts: Readonly<Record<string, number>>;
  readonly calls: number;
}

/** The holders of personal data as a server has them, in a process of their own beside whatever server works on the database. */
export interface Eraser {
  readonly holders: readonly Pick<PersonalData, 'name' | 'tables'>[];
  /** One pass through all holders, each to its end. `limit`: rows of one unit of work. */
  erase(what: ErasureTarget, limit?: number): Promise<Pass>;
  /** What each holder knows of a person, by its name. */
  about(organizationId: string, userId: string): Promise<Readonly<Record<string, JsonObject>>>;
  close(): Promise<void>;
}

export async function anEraser(database: TestDatabase): Promise<Eraser> {
  const { ask, close } = await startProduct('erasure/eraser-process.mjs', database);
  return {
    holders: await ask<Eraser['holders']>('holders'),
    erase: (what, limit = 1_000) => ask<Pass>('erase', what, limit),
    about: (organizationId, userId) => ask('about', organizationId, userId),
    close,
  };
}
