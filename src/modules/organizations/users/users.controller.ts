import { Controller, Delete, Get, Patch, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Access, Caller } from '../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../platform/auth/access/principal.js';
import { Idempotent } from '../../../platform/http/request/idempotent.js';
import { JsonBody } from '../../../platform/http/request/json-body.js';
import { pageRequest } from '../../../platform/http/fields/pagination.js';
import { PathParam } from '../../../platform/http/request/path-param.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { QueryParams } from '../../../platform/http/request/query-params.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { ChangeUserService } from './change-user.service.js';
import { MakeUserDto, UpdateUserDto, UserListQuery } from './users.dto.js';
import { UserEnvelope, UserListReply, presentUser } from './users.presenter.js';
import { UsersQuery } from './users.query.js';

const DEFAULT_LIMIT = 500;

@ApiTags('Organizations and people')
@Controller('api/v1/users')
export class UsersController {
  constructor(
    private readonly changes: ChangeUserService,
    private readonly users: UsersQuery,
  ) {}

  @Get()
  @ApiOperation({ summary: 'List people', description: 'Newest first; active accounts, unless `status` asks for others.' })
  @Access('users.read')
  @Replies(200, UserListReply)
  async list(@QueryParams(UserListQuery) query: UserListQuery, @Caller() caller: VerifiedCaller): Promise<UserListReply> {
    const { rows, total, nextCursor } = await this.users.list(caller.scope, query, pageRequest(query, DEFAULT_LIMIT));
    return { users: rows.map(presentUser), total, ...(nextCursor ? { nextCursor } : {}) };
  }

  @Post()
  @ApiOperation({
    summary: 'Make an account',
    description: 'Somebody who can then be given a personal key. Of no role above your own.',
  })
  @Access('users.write')
  @Idempotent('users.make')
  @Replies(201, UserEnvelope, 'CONFLICT', 'TIER_REQUIRED', 'IDEMPOTENCY_IN_FLIGHT', 'IDEMPOTENCY_KEY_REUSED')
  create(@JsonBody(MakeUserDto) body: MakeUserDto, @Caller() caller: VerifiedCaller) {
    return this.changes.make(body, caller);
  }

  // Before ':id', which would take "me" for one.
  @Get('me')
  @ApiOperation({ summary: 'Who you are', description: 'For people: root and agents have no account.' })
  @Access('users.read-self')
  @Replies(200, UserEnvelope)
  me(@Caller() caller: VerifiedCaller): Promise<UserEnvelope> {
    return this.get(caller.actorId, caller);
  }

  @Get(':id')
  @ApiOperation({ summary: 'One account', description: 'A closed one stays to be seen, with the status `deleted`.' })
  @Access('users.read')
  @Replies(200, UserEnvelope)
  async get(@PathParam('id', 'usr') id: string, @Caller() caller: VerifiedCaller): Promise<UserEnvelope> {
    const user = await this.users.find(caller.scope, id);
    if (!user) throw new Problem('NOT_FOUND', 'There is no such user.');
    return { user: presentUser(user) };
  }

  @Patch(':id')
  @ApiOperation({
    summary: 'Change an account',
    description: 'Members left out stay; null clears `name` and `avatarUrl`. A role counts at their next call. The last owner stays.',
  })
  @Access('users.write')
  @Replies(200, UserEnvelope, 'CONFLICT')
  update(@PathParam('id', 'usr') id: string, @JsonBody(UpdateUserDto) body: UpdateUserDto, @Caller() caller: VerifiedCaller) {
    return this.changes.update(id, body, caller);
  }

  @Delete(':id')
  @ApiOperation({
    summary: 'Close an account',
    description: 'At once, on every replica, with every key of it. The profile stays; the address may be given to a new account.',
  })
  @Access('users.write')
  @Replies(204, null, 'CONFLICT')
  close(@PathParam('id', 'usr') id: string, @Caller() caller: VerifiedCaller) {
    return this.changes.close(id, caller);
  }
}
