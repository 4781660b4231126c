import { Controller, Delete, Get, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../platform/auth/access/principal.js';
import { Idempotent } from '../../../platform/http/request/idempotent.js';
import { JsonBody } from '../../../platform/http/request/json-body.js';
import { pageRequest } from '../../../platform/http/fields/pagination.js';
import { PathParam } from '../../../platform/http/request/path-param.js';
import { QueryParams } from '../../../platform/http/request/query-params.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { MakePersonalKeyDto, PersonalKeyListQuery } from './personal-keys.dto.js';
import { NewPersonalKeyReply, PersonalKeyListReply, presentPersonalKey } from './personal-keys.presenter.js';
import { PersonalKeysService } from './personal-keys.service.js';

const DEFAULT_LIMIT = 500;

@ApiTags('Organizations and people')
@Controller('api/v1/users/:id/keys')
export class PersonalKeysController {
  constructor(private readonly keys: PersonalKeysService) {}

  @Get()
  @ApiOperation({ summary: "List somebody's personal keys", description: 'Newest first, without revoked ones. Never a secret.' })
  @Access('keys.manage')
  @Replies(200, PersonalKeyListReply)
  async list(
    @PathParam('id', 'usr') id: string,
    @QueryParams(PersonalKeyListQuery) query: PersonalKeyListQuery,
    @Caller() caller: VerifiedCaller,
  ): Promise<PersonalKeyListReply> {
    const { rows, total, nextCursor } = await this.keys.list(id, pageRequest(query, DEFAULT_LIMIT), caller);
    return { keys: rows.map(presentPersonalKey), total, ...(nextCursor ? { nextCursor } : {}) };
  }

  @Post()
  @ApiOperation({
    summary: 'Make a personal key',
    description: 'For oneself; root for anybody. It carries the rights that its person has at each call. The secret is shown once. '
      + 'By a session: within ten minutes of signing in (403).',
  })
  @Access('keys.create')
  @Idempotent('users.make-key')
  @Replies(201, NewPersonalKeyReply, 'CONFLICT', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  create(@PathParam('id', 'usr') id: string, @JsonBody(MakePersonalKeyDto) body: MakePersonalKeyDto, @Caller() caller: VerifiedCaller) {
    return this.keys.make(id, body, caller);
  }

  @Delete(':keyId')
  @ApiOperation({ summary: 'Revoke a personal key', description: 'At once, on every replica.' })
  @Access('keys.manage')
  @Replies(204, null)
  revoke(@PathParam('id', 'usr') id: string, @PathParam('keyId', 'key') keyId: string, @Caller() caller: VerifiedCaller) {
    return this.keys.revoke(id, keyId, caller);
  }
}
