import { Controller, Delete, Get, Put } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../platform/auth/access/principal.js';
import { JsonBody } from '../../../platform/http/request/json-body.js';
import { PathParam } from '../../../platform/http/request/path-param.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { OrganizationsQuery } from '../../organizations/organizations.query.js';
import { DefinitionStore } from '../definition.store.js';
import { ChangeSecretService } from './change-secret.service.js';
import { SecretStore } from './secret.store.js';
import { PutSecretDto } from './secrets.dto.js';
import { SecretEnvelope, SecretListReply, presentSecret, usedBy } from './secrets.presenter.js';

@ApiTags('Secrets')
@Controller('api/v1/secrets')
export class SecretsController {
  constructor(
    private readonly organizations: OrganizationsQuery,
    private readonly definitions: DefinitionStore,
    private readonly secrets: SecretStore,
    private readonly changes: ChangeSecretService,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'List secrets', description: 'By name, with where they may be sent and which capabilities name them. Never a value.',
  })
  @Access('secrets.read')
  @Replies(200, SecretListReply)
  async list(@Caller() caller: VerifiedCaller): Promise<SecretListReply> {
    const organizationId = await this.organizations.homeOf(caller.scope);
    const [secrets, definitions] = await Promise.all([this.secrets.list(organizationId), this.definitions.list(organizationId)]);
    return { secrets: secrets.map((secret) => presentSecret(secret, usedBy(secret.name, definitions))) };
  }

  @Put(':secret')
  @ApiOperation({
    summary: 'Set a secret',
    description: 'A new one, or value and origins of one that is there, which hold from the next call on. `{secrets.name}` in values of ' +
      '`headers` and `body` of a connector stands for it, where the connector goes to one of its origins.',
  })
  @Access('secrets.write')
  @Replies(201, SecretEnvelope, 'UNSAFE_URL')
  @Replies(200, SecretEnvelope)
  put(@PathParam('secret') name: string, @JsonBody(PutSecretDto) body: PutSecretDto, @Caller() caller: VerifiedCaller) {
    return this.changes.put(name, body, caller);
  }

  @Delete(':secret')
  @ApiOperation({ summary: 'Remove a secret', description: 'Once no connector names it.' })
  @Access('secrets.write')
  @Replies(204, null, 'CONFLICT')
  remove(@PathParam('secret') name: string, @Caller() caller: VerifiedCaller) {
    return this.changes.remove(name, caller);
  }
}
