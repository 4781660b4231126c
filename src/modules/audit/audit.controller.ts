import { Controller, Get } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { reachOf, type PrincipalKind } from '../../domain/access/access.js';
import { Access, Caller } from '../../platform/auth/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../platform/auth/principal.js';
import { pageRequest } from '../../platform/http/pagination.js';
import { PathParam } from '../../platform/http/path-param.js';
import { Problem } from '../../platform/http/problem.js';
import { QueryParams } from '../../platform/http/query-params.js';
import { Replies } from '../../platform/http/replies.js';
import { AuditListQuery, VerifyQuery } from './audit.dto.js';
import { AuditEntryReply, AuditListReply, VerificationReply, presentEntry, presentVerification } from './audit.presenter.js';
import { AuditQuery } from './audit.query.js';
import { VerifyLogService } from './verify-log.service.js';

const DEFAULT_LIMIT = 50;

@ApiTags('Audit')
@Controller('api/v1/audit')
export class AuditController {
  constructor(
    private readonly log: AuditQuery,
    private readonly verifier: VerifyLogService,
  ) {}

  @Get()
  @Access('audit.read')
  @Replies(200, AuditListReply)
  async list(@QueryParams(AuditListQuery) query: AuditListQuery, @Caller() caller: VerifiedCaller): Promise<AuditListReply> {
    const page = await this.log.list(caller.scope, query, pageRequest(query, DEFAULT_LIMIT), onlyOf(caller));
    return {
      entries: page.rows.map(presentEntry),
      total: page.total,
      ...(page.totalIsExact ? {} : { totalIsExact: false }),
      ...(page.nextCursor === undefined ? {} : { nextCursor: page.nextCursor }),
    };
  }

  // Before ':id', which would take "verify" for one.
  @Get('verify')
  @Access('audit.verify')
  @Replies(200, VerificationReply)
  async verify(@QueryParams(VerifyQuery) query: VerifyQuery, @Caller() caller: VerifiedCaller): Promise<VerificationReply> {
    return presentVerification(await this.verifier.verify(caller, query.agentId));
  }

  @Get(':id')
  @Access('audit.read')
  @Replies(200, AuditEntryReply)
  async get(@PathParam('id', 'audit') id: string, @Caller() caller: VerifiedCaller): Promise<AuditEntryReply> {
    const entry = await this.log.find(caller.scope, id, onlyOf(caller));
    if (!entry) throw new Problem('NOT_FOUND', 'There is no such entry.');
    return presentEntry(entry);
  }
}

/** Members and viewers read what they did and what is about them. */
function onlyOf({ principal, actorId }: VerifiedCaller): string | undefined {
  return reachOf('audit.read', principal.kind as PrincipalKind) === 'own' ? actorId : undefined;
}
