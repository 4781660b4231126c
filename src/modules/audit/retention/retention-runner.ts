import type { ArchiveContents } from '../../../domain/audit/retention/archive-contents.js';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import { publicHalf, signNote, type SigningKey } from '../../../domain/audit/notes/note.js';
import { authorizationText, statementIn } from '../../../domain/audit/notes/authorization-note.js';
import { type DecodedCutPoint, noteIn } from '../../../domain/audit/integrity/row-decoding.js';
import { newId } from '../../../domain/ids.js';
import type { ArchiveStore } from '../../../platform/audit/archive-store.js';
import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import type { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { anchoredSize } from '../anchors/anchors.store.js';
import { knownSigningKeys } from '../keys/signer.js';
import type { CurrentSigners } from './archives/archive-references.query.js';
import { archiveFolder, disclosuresName, skeletonName } from './archives/archive-names.js';
import { checkArchive } from './archives/check-archive.js';
import { RetentionBatchReader } from './archives/archive-lines.js';
import { assertAuthorized, assertCheckpointAge, assertErased } from './plan/retention-preconditions.js';
import { planBatch, type RetentionBatch } from './plan/plan-batch.js';
import { hasErasureBehind, headSeq, retentionCheckpoint } from './plan/retention-plan.query.js';
import { cutPointsOf, retentionRunsIn, type RetentionRunStore } from './retention-run.store.js';
import { RetentionRefused, type RetentionRun } from './retention-run.js';

/** Chains that one entry lists. */
const CHAINS_AN_ENTRY = 1_000;
const DELETED_AT_ONCE = 5_000;
/** So often an organization's run is begun anew because something was erased meanwhile; then it waits for the next hour. */
const BEGUN_ANEW = 5;
const TAKEN_OVER = 'another process took the retention run over';

export interface RetentionRunnerOptions {
  readonly instance: string;
  readonly key: SigningKey;
  /** Names of all anchors: what one of them does not know yet stays. */
  readonly anchors: readonly string[];
  readonly atOnce: number;
}

/** What a retention run of an organization would take first, or took in all. */
export interface OrganizationRetention {
  readonly organizationId: string;
  readonly entries: number;
  readonly chains: number;
  /** There is more to go than was looked at. */
  readonly more: boolean;
}

/**
 * Archives and deletes what is old, run by run, each through the states `writing`, `verified`, `recorded` and `done`. A run that is not
 * recorded has changed nothing and can be thrown away; a recorded one is only finished, by the next process where one died. Its row is
 * trusted for no more: what goes this process has read, archived and signed, or an entry that the server's key has signed lists it.
 */
export class RetentionRunner {
  /** Checkpoints of now, and what retention runs have said, must be signed by this one; a rotation has the new key sign all of it. */
  private readonly signer: CurrentSigners;

  constructor(
    private readonly store: RetentionRunStore,
    private readonly work: UnitOfWork,
    private readonly archive: ArchiveStore,
    private readonly options: RetentionRunnerOptions,
  ) {
    this.signer = { instance: options.instance, keys: [publicHalf(options.key)] };
  }

  /** What would go first. Nothing is written. */
  look(organizationId: string, before: string): Promise<OrganizationRetention> {
    return this.store.read(async (run) => {
      const batch = await this.plan(run, organizationId, before, new Set());
      const entries = batch ? await new RetentionBatchReader(run, organizationId, batch).count() : 0;
      return { organizationId, entries, chains: batch?.cuts.length ?? 0, more: batch?.more ?? false };
    });
  }

  /** Works on an organization until nothing is left to go; what another process had begun comes first. */
  async run(organizationId: string, before: string, goesOn: () => boolean = () => true): Promise<OrganizationRetention> {
    await this.archive.check();
    const blocked = new Set<string>();
    const chains = new Set<string>();
    let entries = await this.resume(organizationId);
    let isDone = false;
    for (let overtaken = 0; !isDone && overtaken < BEGUN_ANEW && goesOn(); ) {
      const batch = await this.store.read((run) => this.plan(run, organizationId, before, blocked));
      const retentionRun = batch && (await this.write(organizationId, before, batch));
      isDone = !retentionRun;
      if (!retentionRun) continue;
      if (!(await this.record(retentionRun))) {
        overtaken++;
        continue;
      }
      entries += await this.delete(organizationId);
      // A retention run also lists again where chains were cut before: of these nothing goes now.
      for (const { chain } of batch.cuts) chains.add(chain);
    }
    if ((await this.recordedOf(organizationId)).length > 0) await this.forgetSubjects(organizationId);
    return { organizationId, entries, chains: chains.size, more: !isDone };
  }

  private async plan(
    run: ReadStatement, organizationId: string, before: string, blocked: Set<string>,
  ): Promise<RetentionBatch | undefined> {
    const found = await retentionCheckpoint(run, organizationId, await anchoredSize(run, this.options.anchors), before);
    if (!found) return undefined;
    await assertCheckpointAge(run, found, this.signer);
    const { madeAt: _, ...below } = found;
    return planBatch(run, organizationId, { below, before, atOnce: this.options.atOnce, blocked });
  }

  /** Finishes what was recorded, and throws away what was not: the log still has all of it. Answers how many entries went. */
  private async resume(organizationId: string): Promise<number> {
    const entries = await this.delete(organizationId);
    if ((await this.recordedOf(organizationId)).length > 0) await this.forgetSubjects(organizationId);
    const unfinished = await this.store.read((run) => retentionRunsIn(run, ['writing', 'verified'], organizationId));
    for (const retentionRun of unfinished) {
      // The commit by which a process recorded it may come after the process was killed.
      if (await this.work.run({ chains: [] }, (tx) => this.store.withdrawn(tx, retentionRun))) await this.discard(retentionRun);
    }
    return entries + (await this.delete(organizationId));
  }

  /** Writes the archive, reads it back and checks it as anybody would. */
  private async write(organizationId: string, before: string, batch: RetentionBatch): Promise<RetentionRun> {
    const begun = { organizationId, id: newId('swp'), before, checkpoint: batch.below };
    await this.work.run({ chains: [] }, (tx) => this.store.begin(tx, begun));
    try {
      const { retentionRun, cutPoints } = await this.store.read((run) => this.archived(run, begun, batch));
      const checked = await this.readBack(retentionRun);
      this.mustContinue(batch, cutPoints, checked);
      await this.store.read((run) => assertErased(run, organizationId, checked, this.signer));
      if (!(await this.work.run({ chains: [] }, (tx) => this.store.verified(tx, retentionRun)))) throw new RetentionRefused(TAKEN_OVER);
      return retentionRun;
    } catch (error) {
      await this.discard(begun).catch(() => undefined);
      throw error;
    }
  }

  private async archived(
    run: ReadStatement, begun: Omit<RetentionRun, 'state' | 'cuts' | 'skeleton' | 'disclosures'>, batch: RetentionBatch,
  ) {
    const { organizationId, id } = begun;
    const cutPoints = await cutPointsOf(run, organizationId);
    const readAt = await headSeq(run, organizationId, organizationChain(organizationId).chain);
    const reader = new RetentionBatchReader(run, organizationId, batch);
    const skeleton = await this.archive.write(skeletonName.of(organizationId, id), reader.skeleton(this.options.key));
    const { ends, next } = reader;
    const cuts = [...ends].map(([chain, { seq, hash, count }]): DecodedCutPoint =>
      ({ chain, seq, hash, count: count + (cutPoints.get(chain)?.count ?? 0) }));
    const values = await this.archive.write(disclosuresName.of(organizationId, id), reader.disclosures());
    // Cuts of earlier runs whose entries go now: somebody has to say from here on that those chains were cut.
    const carried = [...cutPoints.values()].filter(({ chain, sweepEntryId }) => batch.sweepEntries.has(sweepEntryId) && !ends.has(chain))
      .map(({ chain, seq, hash, count }) => ({ chain, seq, hash, count }));
    const goneOn = [...ends.keys(), ...carried.map(({ chain }) => chain)].flatMap((chain) => cutPoints.get(chain) ?? []);
    await assertAuthorized(run, organizationId, goneOn, this.signer);
    const retentionRun: RetentionRun = {
      ...begun, state: 'verified', cuts: [...cuts, ...carried], checkpoint: { ...batch.below, next, readAt },
      skeleton: skeleton.digest, disclosures: values.digest,
    };
    return { retentionRun, cutPoints };
  }

  /** @throws RetentionRefused where the archive is not, to the byte, what was written, or that is not sound */
  private async readBack(retentionRun: RetentionRun): Promise<ArchiveContents> {
    const { organizationId, id: sweepId, before, checkpoint, skeleton, disclosures } = retentionRun;
    const recorded = { organizationId, instance: this.options.instance, sweepId, skeleton, disclosures, checkpoint };
    const checked = await checkArchive(this.archive, recorded, this.signer.keys);
    const [first] = checked.findings;
    if (first) throw new RetentionRefused(`${first.detail}: nothing was deleted. countersign audit verify tells more.`);
    if (checked.newest >= before) throw new RetentionRefused('the archive holds an entry that is not older than the period');
    if (checked.digests.disclosures !== disclosures) throw new RetentionRefused('the archive does not hold the values that were written');
    return checked;
  }

  /** The first that goes must go on from what went before: the first survivor is never trusted. */
  private mustContinue({ firsts }: RetentionBatch, cutPoints: ReadonlyMap<string, DecodedCutPoint>, { chains }: ArchiveContents): void {
    for (const [chain, { first }] of chains) {
      const cutPoint = cutPoints.get(chain);
      const { seq, hash } = cutPoint ?? { seq: 0, hash: null };
      const goesOn = first.seq === seq + 1 && first.prevHash === hash;
      const arrives = first.event === 'agent.transferred' && first.seq > seq;
      if (first.seq !== firsts.get(chain) || (!goesOn && !arrives)) {
        throw new RetentionRefused(`entry ${first.seq} of chain ${chain} does not continue what was swept before it`);
      }
    }
  }

  /** Says in the log what goes, and signs what it says. From here on it only has to be deleted. */
  private async record(retentionRun: RetentionRun): Promise<boolean> {
    const { organizationId, id, before, cuts, checkpoint: { size, root, platformSize, platformRoot, readAt = 0 } } = retentionRun;
    const chain = organizationChain(organizationId);
    const isRecorded = await this.work.run({ chains: [chain], leavesFacts: true }, async (tx) => {
      // Under the lock of the chain that erasures are written to: what was erased since the entries were read still has its
      // values in the archive.
      if (await hasErasureBehind(tx.run, organizationId, chain.chain, readAt)) return false;
      // A replica that does not know of a rotation must not sign; one that is under way waits, and has the new key sign this, too.
      const keys = await knownSigningKeys(tx.run);
      if (keys.join() !== this.signer.keys[0]!.text) throw new RetentionRefused('AUDIT_SIGNING_KEY is not the key that signs now');
      const listed: DecodedCutPoint[] = [];
      const notes: Record<string, string> = {};
      for (let at = 0; at < cuts.length; at += CHAINS_AN_ENTRY) {
        const chains = cuts.slice(at, at + CHAINS_AN_ENTRY)
          .map((cut) => ({ chain: cut.chain, seq: cut.seq, hash: cut.hash, count: cut.count }));
        const metadata = {
          sweepId: id, before, chains, archive: { skeleton: retentionRun.skeleton!, disclosures: retentionRun.disclosures! },
          checkpoint: { size, root, platformSize, platformRoot },
        };
        const entry = tx.recordWhole(chain, { type: 'admin.audit_retention_sweep', metadata });
        const text = authorizationText('sweep', this.options.instance, organizationId, statementIn(entry));
        notes[entry.id] = signNote(text, [this.options.key]);
        listed.push(...chains.map((cut) => ({ ...cut, sweepEntryId: entry.id })));
      }
      if (!(await this.store.recorded(tx, retentionRun, listed, notes))) throw new RetentionRefused(TAKEN_OVER);
      return true;
    });
    if (!isRecorded) await this.discard(retentionRun);
    return isRecorded;
  }

  /** Deletes whatever recorded retention runs have archived. */
  private async delete(organizationId: string): Promise<number> {
    let entries = 0;
    for (const retentionRun of await this.recordedOf(organizationId)) {
      const { id, isReadable, notes = {} } = retentionRun;
      if (isReadable === false) throw new RetentionRefused(`the row of sweep ${id} cannot be read: nothing more is deleted`);
      if (!(await this.archive.exists(skeletonName.of(organizationId, id)))) {
        throw new RetentionRefused(`the archive of sweep ${id} is not there: its entries stay until it is`);
      }
      const cuts = retentionRun.cuts.map(({ sweepEntryId = '', ...cut }) =>
        ({ ...cut, sweepEntryId, note: noteIn(notes, sweepEntryId) }));
      await this.store.read((run) => assertAuthorized(run, organizationId, cuts, this.signer));
      for (let deleted = DELETED_AT_ONCE; deleted === DELETED_AT_ONCE; entries += deleted) {
        deleted = await this.work.run({ chains: [] }, (tx) => this.store.deleteEntries(tx, retentionRun, DELETED_AT_ONCE));
      }
    }
    return entries;
  }

  /** Which entries people are the subjects of, where the entries are gone; and with that recorded retention runs are done. */
  private async forgetSubjects(organizationId: string): Promise<void> {
    for (let after: readonly [string, string] | undefined = ['', '']; after !== undefined; ) {
      const from: readonly [string, string] = after;
      after = await this.work.run({ chains: [] }, (tx) => this.store.deleteSubjects(tx, organizationId, from, DELETED_AT_ONCE));
    }
    await this.work.run({ chains: [] }, (tx) => this.store.done(tx, organizationId));
  }

  /** The objects first: a row without objects is thrown away again, objects without a row would stay. */
  private async discard({ organizationId, id }: Pick<RetentionRun, 'organizationId' | 'id'>): Promise<void> {
    await this.archive.discard(archiveFolder(organizationId, id));
    await this.work.run({ chains: [] }, (tx) => this.store.forget(tx, { organizationId, id }));
  }

  private recordedOf(organizationId: string): Promise<RetentionRun[]> {
    return this.store.read((run) => retentionRunsIn(run, ['recorded'], organizationId));
  }
}
