import { Inject, Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { Permission } from '../../../domain/access/access.js';
import { CONFIG, type CompleteConfig } from '../../config/config.js';
import { StatementsOnPool } from '../../database/statements/statements-on-pool.js';
import { Problem } from '../../http/reply/problem.js';
import { AddressLimit } from '../../rate-limit/address-limit.js';
import { AuthJournal } from '../failures/auth-journal.js';
import { type PresentedCredentials, presentedCredentials } from './bearer.js';
import { clearCookie, cookieNames } from './cookies.js';
import { CredentialSources } from './credential-source.js';
import type { Caller } from '../access/principal.js';

/** Who was found, and whether they were compared with present state already. */
interface Found {
  readonly caller: Caller;
  readonly isFresh: boolean;
}

const DIFFERENT = 'two credentials name different principals';

/** Verifies who calls. What does not hold counts against its address, and is noted. */
@Injectable()
export class Identification {
  private readonly cleared: string;

  constructor(
    @Inject(CredentialSources) private readonly sources: CredentialSources,
    private readonly pool: StatementsOnPool,
    private readonly journal: AuthJournal,
    private readonly addresses: AddressLimit,
    @Inject(CONFIG) config: Pick<CompleteConfig, 'appUrl'>,
  ) {
    const { session, secure } = cookieNames(config.appUrl);
    this.cleared = clearCookie(session, secure);
  }

  /** @throws Problem UNAUTHENTICATED, AGENT_INACTIVE for a genuine token of an agent that is out of service, RATE_LIMITED */
  async identify(request: Request, { hot, late }: Permission): Promise<Caller> {
    const shown = presentedCredentials(request);
    if (shown.malformed !== undefined) return this.refuse(request, shown, shown.malformed);
    let found: Found | undefined;
    let ended: string | undefined;
    const options = { late: late === true, isPastLimit: () => this.addresses.isSpent(request) };
    for (const source of this.sources.all()) {
      const asked = source.present(shown, options);
      // Most sources answer at once; awaiting them would cost a round of the event loop for each.
      const presented = asked instanceof Promise ? await asked : asked;
      if (presented.kind === 'absent') continue;
      if (presented.kind === 'verified') {
        found = found === undefined ? { caller: presented.caller, isFresh: presented.fresh === true }
          : theOneShown(found, { caller: presented.caller, isFresh: presented.fresh === true });
        if (found === undefined) return this.refuse(request, shown, DIFFERENT);
      } else if (presented.kind === 'ended') ended = presented.reason;
      // A browser sends its cookie along with whatever a page shows besides: one that is dead is none.
      else if (source.credential !== 'session' || !isInHeader(shown)) return this.refuse(request, shown, presented.reason);
    }
    if (!found) return this.refuseUnknown(request, shown, ended);
    const { caller, isFresh } = found;
    if (isFresh || (hot && caller.principal.kind === 'agent')) return caller;
    const reason = await this.sources.of(caller.principal)!.stillHolds(caller.principal, this.pool.run);
    return reason === undefined ? caller : this.refuse(request, shown, reason);
  }

  /** For pages that are open to everybody: who comes by a session that holds. Refuses and notes nothing. */
  async sessionOf(request: Request): Promise<Caller | undefined> {
    const shown = presentedCredentials(request);
    if (shown.malformed !== undefined || shown.session === undefined) return undefined;
    for (const source of this.sources.all()) {
      if (source.credential !== 'session') continue;
      const presented = await source.present({ session: shown.session });
      if (presented.kind !== 'verified') return undefined;
      const { caller } = presented;
      if (presented.fresh === true) return caller;
      return (await source.stillHolds(caller.principal, this.pool.run)) === undefined ? caller : undefined;
    }
    return undefined;
  }

  private async refuseUnknown(request: Request, shown: PresentedCredentials, ended: string | undefined): Promise<never> {
    if (isInHeader(shown)) return this.refuse(request, shown, 'unknown credential');
    if (ended === undefined) throw new Problem('UNAUTHENTICATED', 'Send a credential: "Authorization: Bearer <credential>".');
    await this.addresses.take(request);
    throw new Problem('UNAUTHENTICATED', `The session does not hold any more: ${ended}.`, this.cookieGone(shown));
  }

  private async refuse(request: Request, shown: PresentedCredentials, reason: string): Promise<never> {
    await this.addresses.take(request);
    await this.journal.failed(request, reason);
    const words = reason === DIFFERENT && shown.session !== undefined ? `${reason} (one of them is the session's cookie)` : reason;
    throw new Problem('UNAUTHENTICATED', `This credential does not hold: ${words}.`, isInHeader(shown) ? {} : this.cookieGone(shown));
  }

  private cookieGone({ session }: PresentedCredentials): { headers?: Record<string, string> } {
    return session === undefined ? {} : { headers: { 'Set-Cookie': this.cleared } };
  }
}

function isInHeader({ bearer, apiKey }: PresentedCredentials): boolean {
  return bearer !== undefined || apiKey !== undefined;
}

/** Of a person's cookie and what the same person shows besides, what they show; of two principals neither. */
function theOneShown(one: Found, other: Found): Found | undefined {
  const [a, b] = [one.caller.principal, other.caller.principal];
  if (a.kind !== 'user' || b.kind !== 'user' || a.userId !== b.userId) return undefined;
  if (b.credential.kind === 'session') return one;
  return a.credential.kind === 'session' ? other : undefined;
}
