import type { PresentedCredentials } from './bearer.js';
import type { Caller, Principal, UserCredential } from '../access/principal.js';

/**
 * A source's answer to a request. `absent`: it has no credential of this source. `invalid`: its credential is not good, and why. `ended`:
 * its session has ended; that is refused too, but counts as no attack, since a page that was left open goes on asking. `verified`: who
 * calls.
 */
export type Presented =
  | { kind: 'absent' }
  | { kind: 'invalid'; reason: string }
  | { kind: 'ended'; reason: string }
  | { kind: 'verified'; caller: Caller; /** Compared with present state just now, so that this need not be done again. */ fresh?: true };

/** The answer of most sources to most calls, made once. */
export const ABSENT: Presented = Object.freeze({ kind: 'absent' });

/** Runs one statement in the caller's transaction, or on the pool outside of one. */
export type RunStatement = (sql: string, parameters: readonly unknown[]) => Promise<Record<string, unknown>[]>;

export interface PresentOptions {
  /** The route also takes a token that has just expired. */
  late?: boolean;
  /** Asked again for a caller who waits already: this is no new use of the credential. */
  isWaiting?: true;
  /** The call's address is past its limit: a credential that has to be looked up can wait until it is looked up with others. */
  isPastLimit?: () => boolean;
}

/**
 * A kind of credential. Declared here and registered at start by the module that owns its rows, so that the guard knows
 * neither keys nor agents.
 */
export interface CredentialSource {
  readonly kind: Principal['kind'];
  /** Of people: which of their credentials. There is one source for each. */
  readonly credential?: UserCredential['kind'];
  /**
   * Verifies what the request shows by itself: form, signature, times, and for keys the stored hash. Where nothing of its own is
   * shown it answers at once, without a promise.
   */
  present(shown: PresentedCredentials, options?: PresentOptions): Promise<Presented> | Presented;
  /**
   * Compares the principal with present state: undefined when it still holds, else why not. Asked by the guard, and
   * again by every unit of work after its locks, so that a credential that dies meanwhile changes nothing.
   *
   * @throws Problem AGENT_INACTIVE where the state asks for another answer than 401
   */
  stillHolds(principal: Principal, run: RunStatement): Promise<string | undefined>;
  /** Told of a principal that somebody else found dead, so that nothing is kept of it. */
  forget?(principal: Principal): void;
  /**
   * Of a credential that is good once: uses it up. Called by the unit of work that it was shown for, which commits both or neither.
   *
   * @returns false where it was used up already
   */
  spend?(principal: Principal, run: RunStatement): Promise<boolean>;
}

export class CredentialSources {
  private readonly sources: CredentialSource[] = [];
  private readonly byName = new Map<string, CredentialSource>();

  /** @throws Error where there is a source of the same credential already: which of them answers would depend on the order of start */
  register(source: CredentialSource): void {
    const name = source.kind === 'user' ? ofPerson(source.credential) : source.kind;
    if (this.byName.has(name)) throw new Error(`There are two sources of the credential ${name}.`);
    this.byName.set(name, source);
    this.sources.push(source);
  }

  all(): Iterable<CredentialSource> {
    return this.sources;
  }

  /** The source of this very credential: for people there is one for each kind. */
  of(principal: Principal): CredentialSource | undefined {
    return this.byName.get(principal.kind === 'user' ? ofPerson(principal.credential.kind) : principal.kind);
  }
}

/** Constants, since putting a text together would cost each call of the hot path. */
const OF_PEOPLE = { key: 'user key', session: 'user session', token: 'user token', mail: 'user mail', chat: 'user chat' } as const;

function ofPerson(credential: UserCredential['kind'] | undefined): string {
  if (credential === undefined) throw new Error('A source of people says by which of their credentials.');
  return OF_PEOPLE[credential];
}
