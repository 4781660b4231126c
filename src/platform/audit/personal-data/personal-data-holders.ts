import { Injectable } from '@nestjs/common';
import type { JsonObject } from '../../../domain/json.js';
import type { Tx } from '../../database/transaction/tx.js';
import type { FoundPerson } from './personal-records.js';

/**
 * What a column may hold. `personal`: of a known person, and `free`: whatever somebody wrote, are erased from, and so is `partly`: JSON
 * of which names, codes, times and ids are the server's own, and stay; `secret` is dead with its owner; `code`, `id` and `digest` say
 * nothing of a person; `log` is the audit log's own, which erases by its own rules. `policy` is free too, but decides what agents may: it
 * is searched, and never rewritten silently.
 */
export type ColumnClass = 'code' | 'id' | 'digest' | 'secret' | 'personal' | 'free' | 'partly' | 'policy' | 'log';

/** What is to be erased of one organization: a user and what is known of them, or texts alone. */
export interface ErasureTarget {
  readonly organizationId: string;
  readonly userId?: string;
  /** Searched for in whatever is `free`, or is so in part. */
  readonly texts: readonly string[];
}

export interface ErasedSoFar {
  /**
   * How many of each kind of row were changed by this call. A kind whose name begins with `left` counts rows that still hold what is
   * to be erased: policy, until somebody changes it, and what runs, until it has ended. Erasing has ended with a whole pass that
   * counts none of them.
   */
  readonly counts: Readonly<Record<string, number>>;
  /** Where the next call goes on; absent when there is nothing left. */
  readonly next?: string;
}

/** What a module holds of people: declared column by column, told to them, and erased. */
export interface PersonalData {
  readonly name: string;
  /** Table → column → class, of every column of the module's own tables that can hold text. */
  readonly tables: Readonly<Record<string, Readonly<Record<string, ColumnClass>>>>;
  /** What it holds about a person, for the copy that they may ask for: in parts, of which the lists go on one another. */
  about(person: FoundPerson): AsyncIterable<JsonObject>;
  /** Erases from at most `limit` rows behind `after`. Doing it again changes nothing. */
  erase(tx: Tx, what: ErasureTarget, limit: number, after?: string): Promise<ErasedSoFar>;
}

/** Modules register at start what they hold of people; the order of registration is that of erasing. */
@Injectable()
export class PersonalDataHolders {
  private readonly holders: PersonalData[] = [];

  register(holder: PersonalData): void {
    this.holders.push(holder);
  }

  all(): readonly PersonalData[] {
    return this.holders;
  }
}
