import { Injectable } from '@nestjs/common';
import type { ProviderTokens } from './sessions.js';

/** Ends the provider's session when somebody signs out here. Called after the commit. */
export interface ProviderLogoutHandler {
  /**
   * Best effort, and soon: whoever signs out waits for it. It does not fail.
   *
   * @returns where the browser ends the provider's own session too, where there is such a page
   */
  leave(tokens: ProviderTokens): Promise<URL | undefined>;
}

/** Signing out at the provider's end. Whoever knows the provider registers here; without one there is nothing to do. */
@Injectable()
export class ProviderLogout {
  private provider: ProviderLogoutHandler | undefined;

  use(provider: ProviderLogoutHandler): void {
    this.provider = provider;
  }

  /** @param tokens undefined for a session that no provider vouched for */
  async leave(tokens: ProviderTokens | undefined): Promise<string | null> {
    if (tokens === undefined) return null;
    return (await this.provider?.leave(tokens))?.href ?? null;
  }
}
