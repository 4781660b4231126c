import { type OpenEntry, text } from '../entry/open-entry.js';
import {
  type ClaimValue, entryRefOf, type FollowedChain, keyOfClaim, type RecordedFact, type RecordedFactListener,
} from './record-claim.js';
import { type RecordedText, recordedTexts, TEXTS } from './record-text.js';

/** What the entries of one chain say of erasures: who asked, who confirmed and why. Told to the listener at the end of the chain. */
export class RecordedErasures {
  private readonly erasures = new Map<string, RecordedFact>();

  constructor(private readonly chain: FollowedChain, private readonly listener: RecordedFactListener) {}

  entry(opened: OpenEntry): void {
    const id = text(opened.metadata, 'erasureId');
    if (id === undefined) return;
    if (opened.stored.event === 'gdpr.erasure_requested') this.request(id, opened);
    else this.confirm(id, opened);
  }

  end(): void {
    for (const erasure of this.erasures.values()) this.listener.fact(erasure);
  }

  private request(id: string, opened: OpenEntry): void {
    const { stored, metadata } = opened;
    if (this.erasures.has(id)) return this.listener.contradiction(entryRefOf(stored), `asks for erasure ${id} a second time`);
    const userId = text(metadata, 'userId') ?? null;
    const key = keyOfClaim({ kind: 'erasure', organizationId: this.chain.organizationId, id });
    const texts = recordedTexts(opened, TEXTS.erasure, this.listener.erasedInRow(key));
    this.set(id, opened, { kind: userId === null ? 'values' : 'user', userId, askedBy: stored.actorId, confirmedBy: null }, texts);
  }

  /** The confirmation names who asked: where the request's entry was swept, nothing else of it is known. */
  private confirm(id: string, opened: OpenEntry): void {
    const { stored, metadata } = opened;
    const erasure = this.erasures.get(id);
    const confirmedBy = stored.actorId;
    if (erasure) return this.set(id, opened, { ...erasure.members, confirmedBy }, erasure.texts);
    if (!this.chain.isCut) return this.listener.contradiction(entryRefOf(stored), `confirms erasure ${id}, for which nobody asked`);
    const members = { kind: undefined, userId: undefined, askedBy: text(metadata, 'askedBy') ?? null, confirmedBy };
    this.set(id, opened, members, { reason: undefined });
  }

  private set(id: string, { stored }: OpenEntry, members: Record<string, ClaimValue>, texts: Readonly<Record<string, RecordedText>>): void {
    const { organizationId } = this.chain;
    const same = { kind: 'erasure', organizationId, id, agentId: null, capability: '', status: 'asked', entryId: null } as const;
    this.erasures.set(id, { ...same, members, texts, ref: entryRefOf(stored) });
  }
}
