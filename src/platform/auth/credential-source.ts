import type { ShownCredentials } from './bearer.js';
import type { Caller, Principal } from './principal.js';

/** What a source says of a request: nothing of mine; a credential that does not hold, and why; or who it is. */
export type Presented =
  | { kind: 'absent' }
  | { kind: 'invalid'; reason: string }
  | { kind: 'verified'; caller: Caller; /** Compared with present state just now; asking again would tell nothing new. */ fresh?: true };

/** Runs one statement in the caller's transaction, or on the pool outside of one. */
export type RunStatement = (sql: string, parameters: unknown[]) => Promise<Record<string, unknown>[]>;

export interface PresentOptions {
  /** The route also takes a token that has just expired. */
  late?: boolean;
}

/**
 * A kind of credential. Declared here and registered at start by whoever owns its rows, so that the guard knows
 * neither keys nor agents.
 */
export interface CredentialSource {
  readonly kind: Principal['kind'];
  /** Verifies what the request shows by itself: form, signature, times, and for keys the stored hash. */
  present(shown: ShownCredentials, options?: PresentOptions): Promise<Presented> | Presented;
  /**
   * Compares the principal with present state: undefined when it still holds, else why not. Asked by the guard, and
   * again by every unit of work after its locks, so that a credential that dies meanwhile changes nothing.
   *
   * @throws Problem AGENT_INACTIVE where the state asks for another answer than 401
   */
  stillHolds(principal: Principal, run: RunStatement): Promise<string | undefined>;
}

export class CredentialSources {
  private readonly sources = new Map<Principal['kind'], CredentialSource>();

  register(source: CredentialSource): void {
    this.sources.set(source.kind, source);
  }

  all(): Iterable<CredentialSource> {
    return this.sources.values();
  }

  of(kind: Principal['kind']): CredentialSource | undefined {
    return this.sources.get(kind);
  }
}
