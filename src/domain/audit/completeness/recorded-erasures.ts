import { type OpenEntry, text } from '../entry/open-entry.js';
import { keyOfClaim, type RecordedFactListener, entryRefOf, sentence, type RecordedFact } from './record-claim.js';
import { ERASURE_TEXTS, textsIn } from './recorded-texts.js';

type Erasure = Omit<RecordedFact, 'kind' | 'entryId'>;

/** What the entries of one chain say of erasures that were asked for: who did, who confirmed them and why. Told at the end of the chain. */
export class RecordedErasures {
  private readonly erasures = new Map<string, Erasure>();

  constructor(
    private readonly organizationId: string,
    private readonly isCut: boolean,
    private readonly listener: RecordedFactListener,
  ) {}

  entry(opened: OpenEntry): void {
    const id = text(opened.metadata, 'erasureId');
    if (id === undefined) return;
    if (opened.stored.event === 'gdpr.erasure_requested') this.requested(id, opened);
    else this.confirmed(id, opened);
  }

  end(): void {
    for (const erasure of this.erasures.values()) this.listener.told({ kind: 'erasure', entryId: null, ...erasure });
  }

  private requested(id: string, opened: OpenEntry): void {
    const { stored, metadata } = opened;
    const place = entryRefOf(stored);
    if (this.erasures.has(id)) return this.listener.contradiction(place, sentence(place, `asks for erasure ${id} a second time`));
    const isErased = this.listener.erasedIn(keyOfClaim({ kind: 'erasure', organizationId: this.organizationId, id }));
    this.erasures.set(id, {
      ...this.same(id), place,
      members: { ...aboutWhom(text(metadata, 'userId')), askedBy: stored.actorId, confirmedBy: null },
      texts: textsIn(opened, ERASURE_TEXTS, isErased),
    });
  }

  /** Who asked stands in it, too: where that was swept, it is all that is told. */
  private confirmed(id: string, { stored, metadata }: OpenEntry): void {
    const place = entryRefOf(stored);
    const known = this.erasures.get(id);
    if (!known && !this.isCut) return this.listener.contradiction(place, sentence(place, `confirms erasure ${id}, for which nobody asked`));
    const confirmedBy = stored.actorId;
    if (known) this.erasures.set(id, { ...known, place, members: { ...known.members, confirmedBy } });
    else {
      const members = { kind: undefined, userId: undefined, askedBy: text(metadata, 'askedBy'), confirmedBy };
      this.erasures.set(id, { ...this.same(id), place, members, texts: { reason: undefined } });
    }
  }

  private same(id: string): Pick<Erasure, 'organizationId' | 'id' | 'agentId' | 'capability' | 'status'> {
    return { organizationId: this.organizationId, id, agentId: null, capability: '', status: 'asked' };
  }
}

/** Of a person who has an account, or of values. */
function aboutWhom(userId: string | undefined): Record<'kind' | 'userId', string | null> {
  return userId === undefined ? { kind: 'values', userId: null } : { kind: 'user', userId };
}
