import { backoffMs } from '../http/backoff.js';
import { called, CountersignError, isCountersignError, isTrouble } from '../errors.js';
import { checkedCredential, type Credential } from './credential.js';

/** What the agent may do by its new token, and what that differs in from the one before. */
export interface CapabilityChange {
  readonly capabilities: readonly string[];
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

export interface AgentTokenOptions {
  /** Gives a new token wherever one is needed, in place of refreshing the one there is. */
  readonly getToken?: () => string | Promise<string>;
  /** Told when a new token holds other capabilities than the one before. */
  readonly onCapabilities?: (change: CapabilityChange) => void;
  /** Told each token that an agent's was renewed to, for whoever keeps it beyond this process. */
  readonly onToken?: (token: string) => void;
}

/** `POST /agents/{id}/token/refresh`, by the token that is to be renewed. */
export type RefreshToken = (agentId: string, token: string, capabilities: readonly string[] | undefined) => Promise<string>;

/** The share of a token's life after which it is renewed. */
const RENEWED_AT = 0.8;
/** A change may be followed by another one while it is acknowledged. */
const ACKNOWLEDGED_MAX = 5;

interface Claims {
  readonly sub?: string;
  readonly agent_id?: string;
  readonly capabilities?: readonly string[];
  readonly iat?: number;
  readonly exp?: number;
}

/** A token, renewed once for all who need it: at four fifths of its life, and when the service says that it lacks what was granted. */
export class AgentToken implements Credential {
  readonly cookies = 'omit';
  #token: string | undefined;
  #claims: Claims;
  #renewal: Promise<void> | undefined;
  #failures = 0;
  /** Milliseconds; by the local clock. */
  #notBefore = 0;
  /** How far the service's clock is ahead of ours, in milliseconds. */
  #skew = 0;

  constructor(token: string | undefined, private readonly refresh: RefreshToken, private readonly options: AgentTokenOptions) {
    this.#token = token;
    this.#claims = claimsOf(token);
  }

  sawTime(ms: number): void {
    this.#skew = ms - Date.now();
  }

  async authorization(): Promise<string> {
    if (this.#token === undefined || this.#hasLived(1)) await this.#renew(this.#token);
    else if (this.#hasLived(RENEWED_AT) && Date.now() >= this.#notBefore) await this.#tryToRenew(this.#token);
    return `Bearer ${this.#token}`;
  }

  async renewedAfter(error: CountersignError, used: string | undefined): Promise<boolean> {
    const token = used?.slice('Bearer '.length);
    if (token !== this.#token) return true;
    const isRenewable = error.code === 'CAPABILITY_NOT_IN_TOKEN'
      || (error.code === 'UNAUTHENTICATED' && (this.options.getToken !== undefined || this.#hasLived(1)));
    if (!isRenewable) return false;
    await this.#renew(token);
    return this.#token !== token;
  }

  /** By the service's clock. A token without times of its own lives until it is refused. */
  #hasLived(share: number): boolean {
    const { iat, exp, agent_id: agentId } = this.#claims;
    if (iat === undefined || exp === undefined || (agentId === undefined && this.options.getToken === undefined)) return false;
    return Date.now() + this.#skew >= (iat + share * (exp - iat)) * 1_000;
  }

  /** While the old one holds, trouble with the new one is none yet. */
  async #tryToRenew(used: string): Promise<void> {
    try {
      await this.#renew(used);
      this.#failures = 0;
    } catch (error) {
      if (used !== this.#token || !(isTrouble(error) || isCountersignError(error, 'CALLBACK_FAILED'))) throw error;
      this.#notBefore = Date.now() + backoffMs(this.#failures++, 2_000);
    }
  }

  /** One at a time: who comes meanwhile waits for the same. */
  #renew(used: string | undefined): Promise<void> {
    if (used !== this.#token) return Promise.resolve();
    this.#renewal ??= this.#renewed().finally(() => {
      this.#renewal = undefined;
    });
    return this.#renewal;
  }

  async #renewed(): Promise<void> {
    const { getToken } = this.options;
    const token = getToken === undefined ? await this.#refreshed(this.#token!)
      : await called('getToken', async () => checkedCredential(await getToken()));
    const [before, after] = [this.#claims, claimsOf(token)];
    this.#token = token;
    this.#claims = after;
    await called('onToken', () => this.options.onToken?.(token));
    // A token that was just made tells the time to those who see no Date header.
    if (after.iat !== undefined && getToken === undefined) this.sawTime(after.iat * 1_000);
    const change = changeOf(before.capabilities, after.capabilities);
    if (change !== undefined) await called('onCapabilities', () => this.options.onCapabilities?.(change));
  }

  async #refreshed(token: string): Promise<string> {
    const { sub, agent_id: agentId } = this.#claims;
    // Others than agents (people of an identity provider) get their tokens elsewhere.
    if (sub === undefined || agentId === undefined) throw new CountersignError('TOKEN_EXPIRED');
    let capabilities: readonly string[] | undefined;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.refresh(sub, token, capabilities);
      } catch (error) {
        if (isCountersignError(error, 'CAPABILITIES_CHANGED') && attempt < ACKNOWLEDGED_MAX) {
          capabilities = (error.problem as { currentCapabilities?: readonly string[] } | undefined)?.currentCapabilities ?? [];
        } else if (isCountersignError(error, 'UNAUTHENTICATED') && this.#hasLived(1)) {
          const detail = "The agent's token has ended. Give a new one, or `getToken`, or use a key of the agent (svc_agent_…).";
          throw new CountersignError('TOKEN_EXPIRED', { detail, status: error.status, requestId: error.requestId, cause: error });
        } else throw error;
      }
    }
  }
}

function claimsOf(token: string | undefined): Claims {
  try {
    const payload = token!.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/');
    const bytes = Uint8Array.from(atob(payload), (character) => character.charCodeAt(0));
    const claims: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof claims === 'object' && claims !== null ? claims : {};
  } catch {
    return {};
  }
}

function changeOf(before: readonly string[] | undefined, after: readonly string[] | undefined): CapabilityChange | undefined {
  if (before === undefined || after === undefined) return undefined;
  const added = after.filter((name) => !before.includes(name));
  const removed = before.filter((name) => !after.includes(name));
  return added.length + removed.length === 0 ? undefined : { capabilities: after, added, removed };
}
