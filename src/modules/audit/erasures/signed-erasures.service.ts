import { Inject, Injectable } from '@nestjs/common';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import { signNote } from '../../../domain/audit/notes/note.js';
import { authorizationText, statementIn } from '../../../domain/audit/notes/authorization-note.js';
import type { ListedBlank } from '../../../domain/audit/erasure/search-entry.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { currentSigner, knownSigningKeys, OtherKey, signerOf } from '../keys/signer.js';
import { insertErasureNote } from '../keys/authorization-notes.store.js';

export interface SaidOfErasure {
  readonly userId?: string;
  readonly erasureId: string;
  /** Sorted. */
  readonly erased: readonly ListedBlank[];
}

/**
 * Says in the log what this process blanks, and signs that, within the transaction that blanks it: nothing that was there before is
 * ever signed, so that nobody's word of an erasure becomes this server's.
 */
@Injectable()
export class SignedErasures {
  constructor(@Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'auditSigningKey'>) {}

  /** Whether this server's key is the one that signs; where none has signed yet, it is. After a rotation others erase. */
  async maySign(tx: Tx): Promise<boolean> {
    try {
      await currentSigner(tx.run, this.config.auditSigningKey);
      return true;
    } catch (error) {
      if (error instanceof OtherKey) return false;
      throw error;
    }
  }

  /**
   * A rotation that is under way waits for this transaction, and has the new key sign what it has written, too.
   *
   * @throws OtherKey where this server's key is not the one that signs
   */
  async record(tx: Tx, organizationId: string, metadata: SaidOfErasure): Promise<void> {
    const { instance, key, verifierKey } = await signerOf(tx.run, this.config.auditSigningKey);
    const keys = await knownSigningKeys(tx.run);
    if (keys.join() !== verifierKey) throw new OtherKey(key.id, keys.join());
    const entry = tx.recordWhole(organizationChain(organizationId), { type: 'gdpr.erasure_executed', metadata });
    const text = authorizationText('erasure', instance, organizationId, statementIn(entry));
    await insertErasureNote(tx.run, { organizationId, entryId: entry.id, note: signNote(text, [key]) });
  }
}
