import type { JsonObject, JsonValue } from '../../json.js';
import type { StoredEntry } from '../entry/stored-entry.js';
import { type Blanks, number, type OpenEntry, text } from '../entry/open-entry.js';
import { type ClaimValue, type RecordedFactListener, entryRefOf, sentence, type RecordedFact } from './record-claim.js';
import { canonical } from './superseded/shown-text.js';

type Grant = Omit<RecordedFact, 'kind' | 'entryId'>;

/** What the entries of one chain say of grants, told at the end of the chain. */
export class RecordedGrants {
  private readonly grants = new Map<string, Grant>();

  constructor(
    private readonly organizationId: string,
    private readonly agentId: string | null,
    private readonly isCut: boolean,
    private readonly listener: RecordedFactListener,
  ) {}

  entry({ stored, metadata, erased }: OpenEntry): void {
    if (stored.event === 'capability.revoked') this.revoked(stored, metadata);
    else this.granted(stored, metadata, erased);
  }

  end(): void {
    for (const grant of this.grants.values()) this.listener.told({ kind: 'grant', entryId: null, ...grant });
  }

  private granted(stored: StoredEntry, metadata: JsonObject, erased: ReadonlyMap<string, Blanks>): void {
    const id = text(metadata, 'grantId');
    if (id === undefined) return;
    const written = (name: string, none: JsonValue = null): ClaimValue => {
      if (erased.has(name)) return undefined;
      const value = metadata[name] ?? none;
      return typeof value === 'object' && value !== null ? canonical(value) : value;
    };
    this.grants.set(id, {
      organizationId: this.organizationId, id, agentId: this.agentId, capability: stored.capability ?? '', status: 'granted',
      place: entryRefOf(stored),
      members: {
        version: number(metadata, 'version'), teamId: text(metadata, 'teamId') ?? null, hitlMode: text(metadata, 'hitlMode'),
        expiresAt: text(metadata, 'expiresAt') ?? null, timeoutSeconds: number(metadata, 'timeoutSeconds') ?? null,
        timeoutAction: text(metadata, 'timeoutAction'), conditions: written('conditions', []), limits: written('limits', []),
        quorum: written('quorum'), reminders: written('reminders', []), revokedBy: null,
        grantedBy: stored.event === 'capability.granted' ? stored.actorId : this.grants.get(id)?.members['grantedBy'],
      },
    });
  }

  private revoked(stored: StoredEntry, metadata: JsonObject): void {
    const id = text(metadata, 'grantId');
    if (id === undefined) return;
    const known = this.grants.get(id);
    const place = entryRefOf(stored);
    if (!known && !this.isCut) return this.listener.contradiction(place, sentence(place, `revokes grant ${id}, which was never given`));
    if (known?.status === 'revoked') return this.listener.contradiction(place, sentence(place, `revokes grant ${id} a second time`));
    const members = known ? { ...known.members, revokedBy: stored.actorId } : { ...UNTOLD, revokedBy: stored.actorId };
    const same = { organizationId: this.organizationId, id, agentId: this.agentId, capability: stored.capability ?? '' };
    this.grants.set(id, { ...same, status: 'revoked', place, members });
  }
}

/** Of a grant whose first entries were cut off. */
const UNTOLD: Record<string, ClaimValue> = Object.fromEntries(
  [
    'version', 'grantedBy', 'teamId', 'hitlMode', 'expiresAt', 'timeoutSeconds', 'timeoutAction', 'conditions', 'limits', 'quorum',
    'reminders',
  ].map((name) => [name, undefined]),
);
