import type { JsonValue } from '../../json.js';
import { canonical } from '../entry/jcs.js';
import { number, type OpenEntry, text } from '../entry/open-entry.js';
import { type ClaimValue, type FollowedChain, type RecordedFactListener, entryRefOf, type RecordedFact } from './record-claim.js';

const TERMS = [
  'version', 'teamId', 'hitlMode', 'expiresAt', 'timeoutSeconds', 'timeoutAction', 'conditions', 'limits', 'quorum', 'reminders',
  'grantedBy',
];
/** Of a grant whose first entries a retention run took. */
const UNKNOWN: Readonly<Record<string, ClaimValue>> = Object.fromEntries(TERMS.map((name) => [name, undefined]));

/** What the entries of one chain say of grants, told to the listener at the end of the chain. */
export class RecordedGrants {
  private readonly grants = new Map<string, RecordedFact>();

  constructor(private readonly chain: FollowedChain, private readonly listener: RecordedFactListener) {}

  entry(opened: OpenEntry): void {
    const id = text(opened.metadata, 'grantId');
    if (id === undefined) return;
    if (opened.stored.event === 'capability.revoked') this.revoke(id, opened);
    else this.set(id, opened, 'granted', this.terms(id, opened));
  }

  end(): void {
    for (const grant of this.grants.values()) this.listener.fact(grant);
  }

  private terms(id: string, { stored, metadata, erased }: OpenEntry): Record<string, ClaimValue> {
    const json = (name: string, none: JsonValue): ClaimValue => {
      const value = metadata[name] ?? none;
      return erased.has(name) ? undefined : typeof value === 'object' && value !== null ? canonical(value) : value;
    };
    return {
      version: number(metadata, 'version') ?? null, teamId: text(metadata, 'teamId') ?? null, hitlMode: text(metadata, 'hitlMode') ?? null,
      expiresAt: text(metadata, 'expiresAt') ?? null, timeoutSeconds: number(metadata, 'timeoutSeconds') ?? null,
      timeoutAction: text(metadata, 'timeoutAction') ?? null, conditions: json('conditions', []), limits: json('limits', []),
      quorum: json('quorum', null), reminders: json('reminders', []), revokedBy: null,
      grantedBy: stored.event === 'capability.granted' ? stored.actorId : this.grants.get(id)?.members['grantedBy'],
    };
  }

  private revoke(id: string, opened: OpenEntry): void {
    const { stored } = opened;
    const grant = this.grants.get(id);
    if (!grant && !this.chain.isCut) return this.listener.contradiction(entryRefOf(stored), `revokes grant ${id}, which was never given`);
    if (grant?.status === 'revoked') return this.listener.contradiction(entryRefOf(stored), `revokes grant ${id} a second time`);
    this.set(id, opened, 'revoked', { ...(grant?.members ?? UNKNOWN), revokedBy: stored.actorId });
  }

  private set(id: string, { stored }: OpenEntry, status: string, members: Record<string, ClaimValue>): void {
    const { organizationId, agentId } = this.chain;
    const same = { kind: 'grant', organizationId, id, agentId, capability: stored.capability ?? '', entryId: null, texts: {} } as const;
    this.grants.set(id, { ...same, status, members, ref: entryRefOf(stored) });
  }
}
