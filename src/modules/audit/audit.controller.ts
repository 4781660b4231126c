import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { given } from '../../domain/given.js';
import { Access, Caller } from '../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../platform/auth/access/principal.js';
import { pageRequest } from '../../platform/http/fields/pagination.js';
import { PathParam } from '../../platform/http/request/path-param.js';
import { assertPeriod } from '../../platform/http/fields/period.js';
import { Problem } from '../../platform/http/reply/problem.js';
import { QueryParams } from '../../platform/http/request/query-params.js';
import { Replies } from '../../platform/http/reply/replies.js';
import { AuditListQuery, VerifyQuery } from './audit.dto.js';
import { AuditEntryReply, AuditListReply, VerificationReply, presentEntry, presentVerification } from './audit.presenter.js';
import { AuditQuery, onlyOf } from './query/audit.query.js';
import { PeopleOfEntries } from './query/people-of-entries.js';
import { VerifyLogService } from './verification/verify-log.service.js';

const DEFAULT_LIMIT = 50;

@ApiTags('Audit')
@Controller('api/v1/audit')
export class AuditController {
  constructor(
    private readonly log: AuditQuery,
    private readonly verifier: VerifyLogService,
    private readonly people: PeopleOfEntries,
  ) {}

  @Get()
  @ApiOperation({
    summary: 'Query the audit log',
    description: 'Newest first. Committed values are put back; erased ones read `[erased]`. An address that nobody has finds nothing.',
  })
  @Access('audit.read')
  @Replies(200, AuditListReply)
  async list(@QueryParams(AuditListQuery) query: AuditListQuery, @Caller() caller: VerifiedCaller): Promise<AuditListReply> {
    assertPeriod(query);
    const filter = await this.people.byAddress(caller.scope, query);
    if (!filter) return { entries: [], total: 0 };
    const page = await this.log.list(caller.scope, filter, pageRequest(query, DEFAULT_LIMIT), onlyOf('audit.read', caller));
    const { total, totalIsExact, nextCursor } = page;
    return given({ entries: page.rows.map(presentEntry), total, totalIsExact: totalIsExact ? undefined : false, nextCursor });
  }

  // Before ':id', which would take "verify" for one.
  @Get('verify')
  @ApiOperation({
    summary: 'Verify the audit log',
    description:
      'Recomputes every hash and every commitment. A credential begins one a minute; who asks while it runs gets its answer. Where as ' +
      'many run as may, who would begin another is answered 503 with `Retry-After`.',
  })
  @Access('audit.verify')
  @Replies(200, VerificationReply, 'NOT_FOUND')
  async verify(@QueryParams(VerifyQuery) query: VerifyQuery, @Caller() caller: VerifiedCaller): Promise<VerificationReply> {
    return presentVerification(await this.verifier.verify(caller, query.agentId));
  }

  @Get(':id')
  @ApiOperation({ summary: 'One entry' })
  @Access('audit.read')
  @Replies(200, AuditEntryReply)
  async get(@PathParam('id', 'audit') id: string, @Caller() caller: VerifiedCaller): Promise<AuditEntryReply> {
    const entry = await this.log.find(caller.scope, id, onlyOf('audit.read', caller));
    if (!entry) throw new Problem('NOT_FOUND', 'There is no such entry.');
    return presentEntry(entry);
  }
}
