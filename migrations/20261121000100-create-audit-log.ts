import { APPEND_ENTRIES } from './audit-log/append-entries.js';
import { AUDIT_SEQ_AT } from './audit-log/audit-seq-at.js';
import { DELETING_AND_BLANKING } from './audit-log/doors.js';
import { ENTRIES } from './audit-log/entries.js';
import { GUARDS } from './audit-log/guards.js';
import { LONG_WORK } from './audit-log/long-work.js';
import { TREES } from './audit-log/trees.js';
import { FirstSchema } from './shared/first-schema.js';

/**
 * Why: the audit log comes first, because everything that follows is recorded in it: chains of entries, the trees that grow over
 * them, signed checkpoints, and the triggers by which all of it stays as it was written.
 */
export class CreateAuditLog20261121000100 extends FirstSchema {
  readonly name = 'CreateAuditLog20261121000100';
  protected readonly statements = [
    ...ENTRIES, ...TREES, ...LONG_WORK, APPEND_ENTRIES, AUDIT_SEQ_AT, ...DELETING_AND_BLANKING, ...GUARDS,
  ];
}
