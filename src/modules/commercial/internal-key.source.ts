import { Injectable } from '@nestjs/common';
import type { PresentedCredentials } from '../../platform/auth/credentials/bearer.js';
import { ABSENT, type CredentialSource, CredentialSources, type Presented } from '../../platform/auth/credentials/credential-source.js';
import { InternalKey } from '../../platform/auth/credentials/internal-key.js';
import type { Principal } from '../../platform/auth/access/principal.js';
import { scopeOfEverything } from '../../platform/auth/access/scope.js';

const VERIFIED: Presented = {
  kind: 'verified', caller: { principal: { kind: 'internal' }, scope: scopeOfEverything(), actorId: 'internal' }, fresh: true,
};

/** The internal key, as a bearer alone. It is the environment's: it holds for as long as the server runs. */
@Injectable()
export class InternalKeySource implements CredentialSource {
  readonly kind = 'internal';

  constructor(
    sources: CredentialSources,
    private readonly key: InternalKey,
  ) {
    sources.register(this);
  }

  present({ bearer }: PresentedCredentials): Presented {
    return bearer !== undefined && this.key.is(bearer) ? VERIFIED : ABSENT;
  }

  async stillHolds({ kind }: Principal): Promise<string | undefined> {
    return kind === 'internal' ? undefined : 'not the internal key';
  }
}
