import { Inject, Injectable } from '@nestjs/common';
import { clientCredentialsGrant } from 'openid-client';
import { CONFIG, type CompleteConfig } from '../../../../platform/config/config.js';
import { OutboundGuard } from '../../../../platform/outbound/outbound-guard.js';
import { accountUrl } from './account-url.js';
import { PROVIDER_TIMEOUT_MS } from '../client/provider-fetch.js';
import { ProviderMetadata } from '../client/provider-metadata.js';

const MAX_BYTES = 65_536;
const NOT_FOUND = 404;

/** `no_address`: the subject cannot be part of one. `refused`: answered, and not with a deletion. */
export type Deletion = 'deleted' | 'no_address' | { readonly refused: number } | 'no_answer';

/** The provider's administration, where it has one that we may call: with a token that this service gets for itself. */
@Injectable()
export class ProviderAdministration {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'oidcAdminUrl'>,
    private readonly provider: ProviderMetadata,
    private readonly guard: OutboundGuard,
  ) {}

  get isAvailable(): boolean {
    return this.provider.issuer !== undefined && this.config.oidcAdminUrl !== undefined;
  }

  /**
   * An account that is not there is deleted.
   *
   * @throws whatever the library throws where no token is to be had
   */
  async delete(subject: string): Promise<Deletion> {
    const url = accountUrl(this.config.oidcAdminUrl!, subject);
    if (url === undefined) return 'no_address';
    const { configuration } = await this.provider.get();
    const { access_token: token } = await clientCredentialsGrant(configuration);
    const outcome = await this.guard.fetch(url, {
      method: 'DELETE', headers: { authorization: `Bearer ${token}`, accept: 'application/json' }, maxBytes: MAX_BYTES,
      timeoutMs: PROVIDER_TIMEOUT_MS, trusted: true,
    });
    if (outcome.kind !== 'answered') return 'no_answer';
    const { status } = outcome;
    return (status >= 200 && status < 300) || status === NOT_FOUND ? 'deleted' : { refused: status };
  }
}
