import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ProviderClient, type LoginChecks } from '../../ports/provider-client.js';
import { Problem } from '../../../../platform/http/reply/problem.js';

/** 256 bits as 43 characters: what a verifier of PKCE has at the least (RFC 7636, section 4.1). */
const SECRET_BYTES = 32;

export interface SetOut {
  readonly checks: LoginChecks;
  /** Where the provider signs people in. */
  readonly url: URL;
}

/** Setting out for the provider. */
@Injectable()
export class BeginLoginService {
  constructor(private readonly provider: ProviderClient) {}

  /** @throws Problem NOT_FOUND without a provider; UNAVAILABLE while it cannot be asked what it can do */
  async begin(): Promise<SetOut> {
    if (this.provider.issuer === undefined) throw new Problem('NOT_FOUND', 'This service signs people in without an identity provider.');
    const checks = { state: secret(), nonce: secret(), verifier: secret() };
    return { checks, url: await this.provider.authorizationUrl(checks) };
  }
}

const secret = () => randomBytes(SECRET_BYTES).toString('base64url');
