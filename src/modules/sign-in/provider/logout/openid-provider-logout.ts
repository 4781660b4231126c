import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { ProviderClient } from '../../ports/provider-client.js';
import { type ProviderLogoutHandler, ProviderLogout } from '../../ports/provider-logout.js';
import type { ProviderTokens } from '../../ports/sessions.js';

/** Nobody who signs out here waits longer for the provider, in milliseconds. */
const PATIENCE_MS = 3_000;

/** Signs out at the provider: revokes its tokens, and answers the address at which the browser ends the provider's own session. */
@Injectable()
export class OpenidProviderLogout implements ProviderLogoutHandler {
  constructor(
    private readonly provider: ProviderClient,
    logout: ProviderLogout,
  ) {
    if (provider.issuer !== undefined) logout.use(this);
  }

  async leave({ accessToken, refreshToken, idToken }: ProviderTokens): Promise<URL | undefined> {
    const late = new AbortController();
    const asked = Promise.all([this.provider.endSessionUrl(idToken), this.provider.revoke(refreshToken ?? accessToken)]);
    // What cannot be revoked ends by itself; the page is known without asking, once the provider has been asked what it can do.
    const tooLate = pause(PATIENCE_MS, undefined, { signal: late.signal }).catch(() => undefined);
    const [url] = (await Promise.race([asked, tooLate]).finally(() => late.abort())) ?? [];
    return url;
  }
}
