import { Injectable } from '@nestjs/common';
import type { RecordGap } from '../../domain/audit/completeness/superseded/record-gaps.js';
import type { RecordKind, RecordRow } from '../../domain/audit/completeness/record-row.js';
import type { Selection } from '../../domain/audit/integrity/verify-log.js';

/** Runs one statement of the reading transaction: all rows are of the same moment as the entries beside them. */
export type ReadStatement = (sql: string, parameters: readonly unknown[]) => Promise<unknown[]>;

/** Shows a module's rows to whoever compares them with the log. */
export interface RecordKeeper {
  readonly kind: RecordKind;
  /** `import.meta.url` of the module that exports this keeper: the thread of a verification imports that module. */
  readonly definedIn: string;
  /** In batches, ordered by organization and id, by code point. */
  rows(run: ReadStatement, selection: Selection): AsyncIterable<readonly RecordRow[]>;
  /** Those of which not all texts are there: erased, or blanked by retention. In any order. */
  gaps?(run: ReadStatement, selection: Selection): AsyncIterable<readonly RecordGap[]>;
}

/** Modules register their keepers at start; verification asks all of them, and knows none of the modules. */
@Injectable()
export class RecordKeepers {
  private readonly keepers: RecordKeeper[] = [];

  register(keeper: RecordKeeper): void {
    this.keepers.push(keeper);
  }

  all(): readonly RecordKeeper[] {
    return this.keepers;
  }
}
