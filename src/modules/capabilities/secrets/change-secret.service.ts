import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { AuditEventOf } from '../../../domain/audit/catalogue/audit-events.js';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import { SECRET_NAME } from '../../../domain/gate/connector-template.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { invalid } from '../../../platform/http/fields/read-members.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { Reply } from '../../../platform/http/reply/replies.js';
import { OutboundGuard } from '../../../platform/outbound/outbound-guard.js';
import { OrganizationsQuery } from '../../organizations/organizations.query.js';
import { DefinitionStore } from '../definition.store.js';
import { ConnectorSecrets } from './connector-secrets.service.js';
import { SecretStore } from './secret.store.js';
import type { PutSecretDto } from './secrets.dto.js';
import { type SecretEnvelope, presentSecret, usedBy } from './secrets.presenter.js';

/**
 * Sets and removes secrets. No decision rests on a value, so a change awaits none: the next call of a connector, on every server, reads
 * the value that is there.
 */
@Injectable()
export class ChangeSecretService {
  constructor(
    private readonly work: UnitOfWork,
    private readonly organizations: OrganizationsQuery,
    private readonly definitions: DefinitionStore,
    private readonly secrets: SecretStore,
    private readonly sealing: ConnectorSecrets,
    private readonly outbound: OutboundGuard,
  ) {}

  async put(name: string, { value, origins: wanted }: PutSecretDto, caller: Caller): Promise<Reply<SecretEnvelope>> {
    const organizationId = await this.organizations.homeOf(caller.scope);
    if (!SECRET_NAME.test(name)) {
      throw invalid([{ pointer: '', message: 'is for a name that no secret has: 1 to 63 lower-case letters, digits, - and _' }]);
    }
    const origins = this.originsOf(wanted);
    const sealed = this.sealing.seal(organizationId, name, origins, value);
    const sealedDigest = createHash('sha256').update(sealed).digest('hex');
    return this.work.run({ chains: [organizationChain(organizationId)] }, async (tx) => {
      const isNew = (await this.secrets.read(tx, organizationId, [name])).length === 0;
      const secret = await this.secrets.put(tx, organizationId, { name, origins, sealed }, await tx.now());
      record(tx, organizationId, { secretName: name, change: 'set', origins, sealedDigest });
      const using = usedBy(name, await this.definitions.listWithin(tx, organizationId));
      return tx.reply(isNew ? 201 : 200, { secret: presentSecret(secret, using) });
    });
  }

  async remove(name: string, caller: Caller): Promise<Reply<undefined>> {
    const organizationId = await this.organizations.homeOf(caller.scope);
    return this.work.run({ chains: [organizationChain(organizationId)] }, async (tx) => {
      const using = usedBy(name, await this.definitions.listWithin(tx, organizationId));
      if (using.length > 0) throw new Problem('CONFLICT', `The connector of ${using.slice(0, 5).join(', ')} names it.`);
      if (!(await this.secrets.remove(tx, organizationId, name))) throw new Problem('NOT_FOUND', 'There is no secret of this name.');
      record(tx, organizationId, { secretName: name, change: 'removed' });
      return tx.reply(204, undefined);
    });
  }

  /** Sorted, each once. @throws Problem VALIDATION_FAILED, UNSAFE_URL */
  private originsOf(wanted: readonly string[]): string[] {
    wanted.forEach((text, index) => {
      const pointer = `/origins/${index}`;
      // A connector's url is literal up to its path: no pattern stands for it, and it has no credentials.
      const isOrigin = URL.canParse(text) && /^https?:\/\/[^/?#@*{}]+\/?$/i.test(text);
      if (!isOrigin) throw invalid([{ pointer, message: 'must be one origin, such as https://api.example.com, without a path' }]);
      const checked = this.outbound.checkUrl(text);
      if (!checked.ok) throw new Problem('UNSAFE_URL', checked.reason, { errors: [{ pointer, message: checked.reason }] });
    });
    return [...new Set(wanted.map((text) => new URL(text).origin))].sort();
  }
}

function record(tx: Tx, organizationId: string, metadata: AuditEventOf<'admin.secret_changed'>['metadata']): void {
  tx.record(organizationChain(organizationId), { type: 'admin.secret_changed', metadata });
}
