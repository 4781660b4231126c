import { signingKey, verifierKey, type SigningKey } from '../../../domain/audit/notes/note.js';
import { leadsTo } from '../../../domain/audit/notes/key-succession.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { instanceName, verifierKeys, type SigningKeyRow } from '../checkpoints/checkpoint.query.js';
import { writeFirstKey } from '../checkpoints/checkpoint.store.js';

/** This process was started with a key that is not the one that is kept as signing now. */
export class OtherKey extends Error {
  override readonly name = 'OtherKey';

  /**
   * @param keyId of the key that signs
   * @param isVouchedFor whether notes lead from this process's key to that one; if not, somebody has written it into the database
   */
  constructor(readonly ownId: string, readonly keyId: string, readonly isVouchedFor = true) {
    super(`checkpoints are signed by key ${keyId}; AUDIT_SIGNING_KEY is ${ownId}`);
  }
}

/** Who signs, and under which name. */
export interface Signer {
  readonly instance: string;
  readonly key: SigningKey;
  /** The public half as C2SP text. */
  readonly verifierKey: string;
}

/** @param seed base64 of the 32 bytes of the Ed25519 key */
export async function signerOf(run: RunStatement, seed: string): Promise<Signer> {
  const instance = await instanceName(run);
  return { instance, key: signingKey(instance, seed), verifierKey: verifierKey(instance, seed) };
}

/** The key that signs now; undefined before the first signature. */
export async function liveKey(run: RunStatement): Promise<SigningKeyRow | undefined> {
  return (await verifierKeys(run)).find(({ retiredAtSize }) => retiredAtSize === undefined);
}

/** What is to be said where this key is not kept as the one that signs now. */
export async function otherKey(run: RunStatement, { instance, key, verifierKey: own }: Signer): Promise<OtherKey | undefined> {
  const keys = await verifierKeys(run);
  const live = keys.find(({ retiredAtSize }) => retiredAtSize === undefined);
  if (keys.length === 0 || live?.key === own) return undefined;
  const isVouchedFor = live !== undefined && leadsTo(keys, own, live.key, instance);
  return new OtherKey(key.id, live?.keyId ?? 'unknown', isVouchedFor);
}

/** The signer with this key, which must be the one that signs; the first one that asks becomes it. @throws OtherKey */
export async function currentSigner(run: RunStatement, seed: string): Promise<Signer> {
  const signer = await signerOf(run, seed);
  if (!(await liveKey(run))) await writeFirstKey(run, signer.key.id, signer.verifierKey);
  const other = await otherKey(run, signer);
  if (other) throw other;
  return signer;
}

/** The keys that sign now, in their text form. Until the transaction ends no other replaces them. */
export async function knownSigningKeys(run: RunStatement): Promise<string[]> {
  const rows = await run('select verifier_key as key from audit_signing_keys where retired_at_size is null for share', []);
  return (rows as { key: string }[]).map(({ key }) => key);
}
