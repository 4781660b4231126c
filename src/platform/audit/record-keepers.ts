import { Injectable } from '@nestjs/common';
import type { RecordGap, RecordKind, RecordRow } from '../../domain/audit/completeness/record-row.js';
import type { Selection } from '../../domain/audit/integrity/verify-log.js';
import { Registry } from './registry.js';

/** Runs one statement of the reading transaction, so that rows and entries are of the same moment. */
export type ReadStatement = (sql: string, parameters: readonly unknown[]) => Promise<unknown[]>;

/** Reads the rows of a module that completeness compares with the log. */
export interface RecordKeeper {
  readonly kind: RecordKind;
  /** `import.meta.url` of the module that exports this keeper: the thread of a verification imports that module. */
  readonly definedIn: string;
  /** In batches, ordered by organization and id, by code point. */
  rows(run: ReadStatement, selection: Selection): AsyncIterable<readonly RecordRow[]>;
  /** Rows with texts that are erased or blanked by retention, in any order. */
  gaps?(run: ReadStatement, selection: Selection): AsyncIterable<readonly RecordGap[]>;
  /** Agents by whose rights calls of other agents were decided, too, in these organizations. */
  delegators?(run: ReadStatement, organizations: readonly string[] | 'all'): Promise<string[]>;
}

@Injectable()
export class RecordKeepers extends Registry<RecordKeeper> {}
