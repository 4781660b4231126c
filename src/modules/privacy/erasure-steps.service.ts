import { Inject, Injectable, Optional } from '@nestjs/common';
import { type Blanking, sortedPairs } from '../../domain/audit/search-entry.js';
import { type ChainRef, organizationChain, PLATFORM_ORGANIZATION } from '../../domain/audit/chain.js';
import { ERASED } from '../../domain/audit/read-entry.js';
import { type ErasureTarget, PersonalDataHolders } from '../../platform/audit/personal-data.js';
import type { Plan } from '../../platform/database/plan.js';
import type { Tx } from '../../platform/database/tx.js';
import { UnitOfWork } from '../../platform/database/unit-of-work.js';
import { ARCHIVED_LOG, type ArchivedLog } from './archived-log.js';
import { addRows, type Erasure, type ErasureKey, type ErasurePlace, VALUES_WITHOUT_CONFIRMATION } from './erasure.js';
import { ErasureStore } from './erasure.store.js';
import { ErasureTexts } from './erasure-texts.js';
import { after, blanked, type Look, LookFor, VALUES_AT_ONCE } from './look-for.service.js';
import { LogSearchQuery } from './log-search.query.js';

/** One server at a time erases. */
const ERASURE_LOCK = 715_517_007;
/** Rows of a module that one transaction changes. */
const ROWS_AT_ONCE = 200;
/** A text that keeps coming does not keep an erasure from ending: from this round on, its end is where the chains stand as it begins. */
const LAST_ROUND = 4;

const ALONE: Plan = { chains: [], alone: ERASURE_LOCK };

/** Ends a unit of work of which somebody else, another server or a sweep, has done a part meanwhile. It is done again. */
class Overtaken extends Error {}

/** What comes behind a look, in a transaction that holds more: blank, change rows, or take all heads and look again. */
type Next = 'moved' | 'gone' | { readonly look: Look } | { readonly phase: 'rows' | 'archive' | 'check' };

/**
 * One step of an erasure after the other, each a transaction of its own that begins where the last one that committed has ended. Rounds
 * go over what the log holds, then the modules' rows, then the archive; and again over what has come meanwhile, until under the locks
 * of all of the organization's chains nothing new holds any of it.
 */
@Injectable()
export class ErasureSteps {
  constructor(
    private readonly work: UnitOfWork,
    private readonly store: ErasureStore,
    private readonly looking: LookFor,
    private readonly log: LogSearchQuery,
    private readonly holders: PersonalDataHolders,
    private readonly texts: ErasureTexts,
    @Optional() @Inject(ARCHIVED_LOG) private readonly archived?: ArchivedLog,
  ) {}

  /**
   * @returns whether there is more to do
   * @throws UnderWay where another server erases
   */
  async step(key: ErasureKey): Promise<boolean> {
    const next = await this.work.run(ALONE, (tx) => this.look(tx, key));
    if (next === 'gone') return false;
    try {
      if (next === 'moved') return true;
      if ('look' in next) return await this.blank(key, next.look);
      if (next.phase === 'rows') return await this.rows(key);
      return next.phase === 'archive' ? await this.archive(key) : await this.check(key);
    } catch (error) {
      if (error instanceof Overtaken) return true;
      throw error;
    }
  }

  private async look(tx: Tx, key: ErasureKey): Promise<Next> {
    const erasure = await this.store.find(tx, key);
    if (erasure?.state !== 'running') return 'gone';
    const { place } = erasure;
    if (place.phase !== 'subjects' && place.phase !== 'log') return { phase: place.phase };
    const look = place.phase === 'subjects' ? await this.looking.subjects(tx, erasure) : await this.looking.inLog(tx, erasure);
    if (look.blankings.length > 0) return { look };
    await this.save(tx, erasure, look);
    return 'moved';
  }

  /** Blanks what a look has found, and lists it in an entry of the organization's chain in the same transaction. */
  private async blank(key: ErasureKey, look: Look): Promise<boolean> {
    return this.work.run(this.under(key), async (tx) => {
      const erasure = await this.running(tx, key);
      if (await this.needsConfirmation(tx, erasure, look.blankings)) return false;
      await this.save(tx, erasure, look);
      await this.blankIn(tx, erasure, look.blankings);
      return true;
    });
  }

  private async blankIn(tx: Tx, erasure: Erasure, blankings: readonly Blanking[]): Promise<void> {
    if ((await this.store.blank(tx, erasure.organizationId, blankings)) < blankings.length) throw new Overtaken();
    this.record(tx, erasure, blankings);
  }

  private record(tx: Tx, { organizationId, id, userId }: Erasure, blankings: readonly Blanking[]): void {
    const erased = sortedPairs(blankings.flatMap(({ pairs }) => pairs));
    // A key that is taken from what was blank already needs nobody's account.
    if (erased.length === 0) return;
    tx.record(organizationChain(organizationId), {
      type: 'gdpr.erasure_executed', metadata: { ...(userId === null ? {} : { userId }), erasureId: id, erased },
    });
  }

  /** More has come up than one person alone may erase: it waits for another one. */
  private async needsConfirmation(tx: Tx, erasure: Erasure, blankings: readonly Blanking[]): Promise<boolean> {
    const { kind, confirmedBy, organizationId, counts } = erasure;
    if (kind === 'user' || confirmedBy !== null || organizationId === PLATFORM_ORGANIZATION) return false;
    const values = counts.values + valuesIn(blankings);
    if (values <= VALUES_WITHOUT_CONFIRMATION && !blankings.some(({ isDecision }) => isDecision)) return false;
    await this.store.setState(tx, erasure, 'unconfirmed');
    return true;
  }

  private async save(tx: Tx, erasure: Erasure, { place, blankings, unreadable, texts }: Look): Promise<void> {
    const { counts } = erasure;
    const step = {
      place,
      counts: {
        ...counts,
        values: counts.values + valuesIn(blankings), entries: counts.entries + blankings.length, unreadable: counts.unreadable + unreadable,
      },
      ...(texts ? { texts: this.texts.seal(erasure.id, texts) } : {}),
    };
    if (!(await this.store.advance(tx, erasure, step))) throw new Overtaken();
    // What was not searched for until now may stand anywhere.
    if (texts) await this.store.cover(tx, erasure, 'nothing');
    const was = erasure.place.phase;
    if (was === 'subjects' && place.phase === 'log') await this.store.aim(tx, erasure);
    if (was === 'log' && place.phase === 'rows') await this.store.cover(tx, erasure, 'target');
  }

  private async rows(key: ErasureKey): Promise<boolean> {
    const holders = this.holders.all();
    const wanted = await this.work.run(ALONE, async (tx) => {
      const { place, ...erasure } = await this.running(tx, key);
      return holders[place.holder ?? 0]?.chains?.(tx, this.target({ place, ...erasure }), ROWS_AT_ONCE, place.after) ?? [];
    });
    return this.work.run(this.under(key, wanted), async (tx) => {
      const erasure = await this.running(tx, key);
      const { place, counts } = erasure;
      const at = place.holder ?? 0;
      const holder = holders[at];
      const done = holder && (await holder.erase(tx, this.target(erasure), ROWS_AT_ONCE, place.after));
      const next = !holder ? after(place, 'archive')
        : { ...after(place, 'rows'), holder: done?.next === undefined ? at + 1 : at, ...(done?.next === undefined ? {} : { after: done.next }) };
      await this.moved(tx, erasure, next, done ? addRows(counts, done.counts) : counts);
      return true;
    });
  }

  private target(erasure: Erasure): ErasureTarget {
    const { organizationId, userId, id, texts } = erasure;
    return { organizationId, ...(userId === null ? {} : { userId }), texts: this.texts.open(id, texts) };
  }

  /** Listed first and blanked then: what is listed twice, or too early, does no harm; a blank that nothing lists is tampering. */
  private async archive(key: ErasureKey): Promise<boolean> {
    const erasure = await this.work.run(ALONE, (tx) => this.running(tx, key));
    const holds = this.looking.finder(erasure);
    const entryOf = (hash: string, text: string, id = '') => ({ id, event: '', hash, disclosures: text, pointers: [] });
    let [page, values] = [[] as Blanking[], 0];
    let isConfirmed = true;
    const list = async () => {
      const listed = page;
      [page, values] = [[], 0];
      if (listed.length === 0 || !isConfirmed) return;
      isConfirmed = await this.work.run(this.under(key), async (tx) => {
        const now = await this.running(tx, key);
        if (await this.needsConfirmation(tx, now, listed)) return false;
        this.record(tx, now, listed);
        return true;
      });
    };
    for await (const { id, hash, text } of this.archived?.of(erasure.organizationId) ?? []) {
      const [found] = blanked([entryOf(hash, text, id)], holds).blankings;
      if (!found) continue;
      if (values + found.pairs.length > VALUES_AT_ONCE) await list();
      page.push(found);
      values += found.pairs.length;
    }
    await list();
    if (!isConfirmed) return false;
    const change = (hash: string, text: string) => blanked([entryOf(hash, text)], holds).blankings[0]?.after ?? text;
    const { entries = 0 } = (await this.archived?.rewrite(erasure.organizationId, change)) ?? {};
    return this.work.run(this.under(key), async (tx) => {
      const now = await this.running(tx, key);
      const counts = addRows(now.counts, { archived: entries });
      if (!now.place.last) {
        await this.moved(tx, now, after(now.place, 'check'), counts);
        return true;
      }
      await this.moved(tx, now, now.place, counts);
      return this.end(tx, { ...now, counts });
    });
  }

  /** Nothing is written to any of the organization's chains while this looks at what has come. */
  private async check(key: ErasureKey): Promise<boolean> {
    const chains = await this.work.run(ALONE, (tx) => this.log.chains(tx, key.organizationId));
    const plan = this.under(key, chains.map((chain) => ({ organizationId: key.organizationId, chain })));
    return this.work.run({ ...plan, evenIfClosed: true, leavesFacts: true }, async (tx) => {
      const erasure = await this.running(tx, key);
      const { place } = erasure;
      if (!(await this.looking.isInNews(tx, erasure))) return this.end(tx, erasure);
      const isLast = place.round + 1 >= LAST_ROUND;
      const round = place.round + 1;
      // In the last one all is looked for by text and pointer at once: what it goes up to is settled here.
      const next: ErasurePlace = isLast ? { phase: 'log', round, last: true }
        : { phase: erasure.kind === 'user' ? 'subjects' : 'log', round };
      await this.moved(tx, erasure, next, erasure.counts);
      if (next.phase === 'log') await this.store.aim(tx, erasure);
      return true;
    });
  }

  private async end(tx: Tx, erasure: Erasure): Promise<false> {
    const { organizationId, id, userId, reason, counts } = erasure;
    const isIn = reason !== null && this.looking.finder(erasure)(reason);
    await this.store.end(tx, erasure, isIn ? ERASED : reason);
    // Who asks the log whether it was done finds it said, also where nothing stood in it.
    if (counts.values === 0 && userId !== null) {
      tx.record(organizationChain(organizationId), { type: 'gdpr.erasure_executed', metadata: { userId, erasureId: id, erased: [] } });
    }
    return false;
  }

  private async moved(tx: Tx, erasure: Erasure, place: ErasurePlace, counts: Erasure['counts']): Promise<void> {
    if (!(await this.store.advance(tx, erasure, { place, counts }))) throw new Overtaken();
  }

  /** @throws Overtaken when it is not running any more */
  private async running(tx: Tx, key: ErasureKey): Promise<Erasure> {
    const erasure = await this.store.find(tx, key, true);
    if (erasure?.state !== 'running') throw new Overtaken();
    return erasure;
  }

  /** What the log loses no decision in flight rests on; what agents' requests lose may be. */
  private under({ organizationId }: ErasureKey, chains: readonly ChainRef[] = []): Plan {
    const plan: Plan = { chains: [organizationChain(organizationId), ...chains], alone: ERASURE_LOCK };
    return chains.length === 0 ? { ...plan, leavesFacts: true } : plan;
  }
}

const valuesIn = (blankings: readonly Blanking[]): number => blankings.reduce((sum, { pairs }) => sum + pairs.length, 0);
