import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { Access, Caller } from '../../../platform/auth/access/access.decorator.js';
import type { Caller as VerifiedCaller } from '../../../platform/auth/access/principal.js';
import { PathParam } from '../../../platform/http/request/path-param.js';
import { QueryParams } from '../../../platform/http/request/query-params.js';
import { Replies } from '../../../platform/http/reply/replies.js';
import { LogExportQuery, PersonExportQuery } from './export.dto.js';
import { ExportLogService } from './export-log.service.js';
import { ExportPersonService } from './export-person.service.js';
import { VerifierPage } from './stand-alone-verifier.js';

const FILE = { type: 'string', format: 'binary' } as const;
const OBJECT = { type: 'object', additionalProperties: true, description: 'The lines of the file, in one object.' };
const FILES = {
  'application/x-ndjson': { schema: FILE }, 'application/json': { schema: OBJECT },
  'text/csv': { schema: FILE }, 'application/gzip': { schema: FILE },
};

@ApiTags('Audit')
@Controller('api/v1/audit')
export class ExportsController {
  constructor(
    private readonly logs: ExportLogService,
    private readonly people: ExportPersonService,
    private readonly page: VerifierPage,
  ) {}

  @Get('export')
  @ApiOperation({
    operationId: 'audit.export',
    summary: 'Export the audit log',
    description:
      'A file that can be verified without this server, of one moment of the log, sent as it is made. Recorded as `admin.audit_exported` ' +
      'before the first byte. A connection that ends without the line `manifest` brought half a file.',
  })
  @ApiResponse({ status: 200, description: 'The file.', content: FILES })
  @Access('audit.export')
  @Replies(200, null, 'NOT_FOUND', 'TIER_REQUIRED')
  log(
    @Req() request: Request, @Res() response: Response, @QueryParams(LogExportQuery) query: LogExportQuery,
    @Caller() caller: VerifiedCaller,
  ): Promise<void> {
    return this.logs.export({ request, response, caller, format: query.format ?? 'jsonl' }, query);
  }

  @Get('verifier')
  @ApiOperation({
    operationId: 'audit.verifier',
    summary: 'The verifier',
    description: 'One page that verifies exports by itself. Save it: it needs no server.',
  })
  @ApiResponse({ status: 200, description: 'The page.', content: { 'text/html': { schema: { type: 'string' } } } })
  @Access('public')
  @Replies(200, null, 'NOT_FOUND')
  async verifier(@Res() response: Response): Promise<void> {
    const { html, policy } = await this.page.read();
    response.setHeader('Content-Security-Policy', policy);
    response.type('html').send(html);
  }

  @Get(':userId/export')
  @ApiOperation({
    operationId: 'audit.exportPerson',
    summary: "Export a person's data",
    description:
      'Their profile, what is kept of them, and the entries that they made or that are about them, each proven. Values that are not ' +
      'theirs are left out and counted. Recorded as `gdpr.export_requested` before the first byte.',
  })
  @ApiResponse({ status: 200, description: 'The file.', content: FILES })
  @Access('privacy.export')
  @Replies(200, null)
  person(
    @Req() request: Request, @Res() response: Response, @PathParam('userId', 'usr') userId: string,
    @QueryParams(PersonExportQuery) query: PersonExportQuery, @Caller() caller: VerifiedCaller,
  ): Promise<void> {
    return this.people.export({ request, response, caller, format: query.format ?? 'json' }, userId);
  }
}
