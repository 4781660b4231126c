import { Injectable } from '@nestjs/common';
import type { PresentedCredentials } from '../../../platform/auth/credentials/bearer.js';
import type { CredentialSource, Presented, RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import { ABSENT, CredentialSources } from '../../../platform/auth/credentials/credential-source.js';
import type { Principal } from '../../../platform/auth/access/principal.js';
import { scopeOfEverything } from '../../../platform/auth/access/scope.js';
import { ROOT_KEY_FORM, hashRootKey, sameHash } from './root-key.js';

const NOT_FOR_OTHERS = 'x-api-key takes the root key only; send any other credential as "Authorization: Bearer <credential>"';

/** The root key, by `Authorization: Bearer` or `x-api-key`. The stored hash is read at each call: rotation holds at once. */
@Injectable()
export class RootKeySource implements CredentialSource {
  readonly kind = 'root';

  constructor(sources: CredentialSources) {
    sources.register(this);
  }

  present({ apiKey, bearer }: PresentedCredentials): Presented {
    const asBearer = bearer?.startsWith('svc_root_') ? bearer : undefined;
    if (apiKey === undefined && asBearer === undefined) return ABSENT;
    // x-api-key carries the root key only; beside another credential it must be the same one.
    if (apiKey !== undefined && bearer !== undefined && apiKey !== bearer) {
      return { kind: 'invalid', reason: 'two credentials name different principals' };
    }
    const key = apiKey ?? asBearer!;
    if (!key.startsWith('svc_root_')) return { kind: 'invalid', reason: NOT_FOR_OTHERS };
    if (!ROOT_KEY_FORM.test(key)) return { kind: 'invalid', reason: 'not a root key' };
    const principal = { kind: 'root', keyHash: hashRootKey(key) } as const;
    return { kind: 'verified', caller: { principal, scope: scopeOfEverything(), actorId: 'root' } };
  }

  async stillHolds(principal: Principal, run: RunStatement): Promise<string | undefined> {
    if (principal.kind !== 'root') return 'not a root key';
    const [row] = await run('select root_key_hash from instance', []);
    return row && sameHash(String(row.root_key_hash), principal.keyHash) ? undefined : 'unknown root key';
  }
}
