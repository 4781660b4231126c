import { platformChain } from '../../../domain/audit/entry/chain.js';
import { authorizationOrigin, signedAgain } from '../../../domain/audit/notes/authorization-note.js';
import { waiveCheckpoint } from '../../../domain/audit/notes/waived-checkpoint.js';
import { vouchForNext } from '../../../domain/audit/notes/key-succession.js';
import { publicHalf, type SigningKey } from '../../../domain/audit/notes/note.js';
import { asService } from '../../../platform/auth/access/call-context.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { StartRefused } from '../../../platform/config/start-refused.js';
import { appendOutsideUnit } from '../../../platform/database/transaction/append-outside-unit.js';
import { withClaimedLeadership } from '../../../platform/database/leadership/claimed-leadership.js';
import { acceptSigningKey } from '../../organizations/installation/fingerprints.store.js';
import { acceptedLosses } from '../anchors/anchor-state.query.js';
import { verifierKeys } from '../checkpoints/checkpoint.query.js';
import { makeCheckpoints } from '../checkpoints/sign-checkpoints.js';
import { replaceKey } from '../checkpoints/checkpoint.store.js';
import { LeafIntegrator } from '../checkpoints/leaf-integrator.js';
import { SignedState, LogRewritten } from '../checkpoints/signed-state.js';
import { notesInForce, replaceNotes } from './authorization-notes.store.js';
import { currentSigner, liveKey, OtherKey, signerOf } from './signer.js';

export interface RotatedSigningKey {
  readonly keyId: string;
  /** The new key's public half as C2SP text. */
  readonly verifierKey: string;
  /** Of the platform's tree: the checkpoint that both keys have signed. */
  readonly size: number;
  /** Whether it had been done before: then nothing was changed. */
  readonly already: boolean;
}

/** Seeds of 32 bytes, in base64. */
export interface SigningKeys {
  readonly present: string;
  readonly next: string;
}

/**
 * Gives the installation another signing key. In one transaction the platform's chain announces it, both keys sign the newest head of
 * every tree and the entries of retention runs and erasures. Servers with the old key go on serving, and sign no more.
 *
 * @param url of the database, past a pooler
 * @throws StartRefused where `present` is not the key that signs, `next` signs or has signed, or the log was rewritten
 */
export async function rotateSigningKey(url: string, { present, next }: SigningKeys): Promise<RotatedSigningKey> {
  if (present === next) throw new StartRefused('the new key is the one that signs now');
  return withClaimedLeadership(url, async (lead) => {
    const done = await lead.run((run) => alreadyRotated(run, next));
    if (done) return done;
    // With the old key alone: the new one vouches for nothing that is not proven by it.
    const trees = await lead.transact(async (run) => SignedState.asSigned(run, await currentSigner(run, present))).catch(refused);
    // What has been waiting for long need not wait in the transaction that holds the platform's chain.
    await new LeafIntegrator(lead, trees).drain();
    return asService('cli', () => lead.transact((run) => rotate(run, trees, { present, next })));
  });
}

function refused(error: unknown): never {
  if (error instanceof OtherKey) throw new StartRefused(`${error.message}. The old key is needed to vouch for the new one`);
  throw error instanceof LogRewritten ? new StartRefused(error.message) : error;
}

async function rotate(run: RunStatement, trees: SignedState, { present, next }: SigningKeys): Promise<RotatedSigningKey> {
  const [before, after] = [await signerOf(run, present), await signerOf(run, next)];
  const known = await verifierKeys(run);
  if (known.some(({ keyId }) => keyId === after.key.id)) {
    throw new StartRefused('the new key was retired before: what it signs would not count');
  }
  const keyNote = vouchForNext(known.length, after.verifierKey, before.key);
  await appendOutsideUnit(run, platformChain(), { type: 'admin.signing_key_rotated', metadata: { keyId: after.verifierKey, keyNote } });
  for (const { size, root = '' } of await acceptedLosses(run, before.instance, before.verifierKey)) {
    const lost = waiveCheckpoint({ size, root }, [before.key, after.key]);
    await appendOutsideUnit(run, platformChain(), { type: 'admin.recovered', metadata: { lost, lossAccepted: true } });
  }
  await new LeafIntegrator({ run: (work) => work(run), transact: (work) => work(run) }, trees).drain();
  const { newest: { size } } = await makeCheckpoints(run, {
    instance: before.instance, keys: [before.key, after.key], trees, organizations: null, forAll: true,
  });
  await replaceKey(run, { keyId: after.key.id, verifierKey: after.verifierKey, note: keyNote }, size);
  await reSign(run, before.instance, { present: before.key, next: after.key });
  await acceptSigningKey(run, next, after.instance);
  return { keyId: after.key.id, verifierKey: after.verifierKey, size, already: false };
}

async function alreadyRotated(run: RunStatement, next: string): Promise<RotatedSigningKey | undefined> {
  const [{ key, verifierKey }, live] = [await signerOf(run, next), await liveKey(run)];
  if (live?.key !== verifierKey) return undefined;
  return { keyId: key.id, verifierKey, size: live.fromSize, already: true };
}

/**
 * Signs with the next key, too, what the present one has signed of retention runs and erasures whose entries are in the log: a retired key
 * is believed nowhere. What the present key has not signed is left as it is, for a verification to find.
 *
 * @param run statements of the transaction that replaces the key, behind the statement that does it: a run or an erasure is then either
 *   committed, and seen here, or refused
 */
async function reSign(
  run: RunStatement, instance: string, { present, next }: { readonly present: SigningKey; readonly next: SigningKey },
): Promise<void> {
  const by = publicHalf(present);
  // In this order: who ends a retention run takes its row first, too.
  for (const operation of ['sweep', 'erasure'] as const) {
    const again = (await notesInForce(run, operation)).flatMap((one) => {
      const note = signedAgain(one.note, authorizationOrigin(operation, instance, one.organizationId), by, [present, next]);
      return note === undefined ? [] : [{ ...one, note }];
    });
    await replaceNotes(run, operation, again);
  }
}
