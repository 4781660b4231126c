import { LogRewritten } from '../signed-state.js';
import { OtherKey } from '../../keys/signer.js';

/** What an error tells of a rewritten database; undefined where it tells of something else. */
export function rewritingOf(error: unknown): { readonly message: string } | undefined {
  if (error instanceof LogRewritten) return error;
  if (!(error instanceof OtherKey) || error.isVouchedFor) return undefined;
  const { keyId, ownId } = error;
  return {
    message: `The database says that key ${keyId} signs the audit log now, and this installation's key ${ownId} (AUDIT_SIGNING_KEY) `
      + 'has not vouched for it: the audit log was rewritten in the database.',
  };
}
