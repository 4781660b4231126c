import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../../domain/json.js';
import type { Tx } from '../../database/transaction/tx.js';
import { Registry } from '../registry.js';
import type { FoundPerson } from './personal-records.js';

/**
 * What a column may hold. Erased from: `personal` (of a known person), `free` (text that anybody wrote) and `partly` (JSON with names,
 * codes, times and ids of the server's, which stay). `policy` is free text too, but decisions rest on it: policy is searched and never
 * rewritten. `secret` is dead with its owner; `code`, `id` and `digest` say nothing of a person; `log` belongs to the audit log, which has
 * its own rules.
 */
export type ColumnClass = 'code' | 'id' | 'digest' | 'secret' | 'personal' | 'free' | 'partly' | 'policy' | 'log';

/** What an erasure takes from one organization: a user with the texts that name them, or texts alone. */
export interface ErasureTarget {
  readonly organizationId: string;
  readonly userId?: string;
  /** Searched for in `free`, `partly` and `policy` columns. */
  readonly texts: readonly string[];
}

export interface ErasedSoFar {
  /**
   * How many rows of each kind this call has changed. A kind that begins with `left` counts rows that cannot be erased from yet: policy,
   * until somebody changes the policy, and executions that run. An erasure ends with a whole pass that counts none of these.
   */
  readonly counts: Readonly<Record<string, number>>;
  /** Where the next call goes on; absent after the last row. */
  readonly next?: string;
}

/** The personal data of a module: declared column by column, exported for a person, and erased. */
export interface PersonalData {
  readonly name: string;
  /** Table → column → class, for every column of the module's tables that can hold text. */
  readonly tables: Readonly<Record<string, Readonly<Record<string, ColumnClass>>>>;
  /** The data of a person, for the copy that the person may ask for, in parts: lists of the same name continue one another. */
  about(person: FoundPerson): AsyncIterable<JsonObject>;
  /** Erases from at most `limit` rows behind `after`. Doing it again changes nothing. */
  erase(tx: Tx, what: ErasureTarget, limit: number, after?: string): Promise<ErasedSoFar>;
}

/** Erasures follow the order of registration. */
@Injectable()
export class PersonalDataHolders extends Registry<PersonalData> {}
