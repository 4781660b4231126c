import type { AddressInfo } from 'node:net';
import { type CanActivate, Controller, type ExecutionContext, Get, Injectable, Module, Post, Req } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request } from 'express';
import { ApiTags } from '@nestjs/swagger';
import { QueryFailedError } from 'typeorm';
import { APP_OPTIONS, configureApp, type PipelineSettings } from '../../../src/configure-app.js';
import { bodyBytes, formBody } from '../../../src/platform/http/request/body-reader.js';
import { FreeObject, Integer, Nested, Text } from '../../../src/platform/http/fields/fields.js';
import { JsonBody } from '../../../src/platform/http/request/json-body.js';
import { PageQuery } from '../../../src/platform/http/fields/pagination.js';
import { PathParam } from '../../../src/platform/http/request/path-param.js';
import { Problem } from '../../../src/platform/http/reply/problem.js';
import { QueryParams } from '../../../src/platform/http/request/query-params.js';
import { Replies, reply } from '../../../src/platform/http/reply/replies.js';
import { requestContext } from '../../../src/platform/http/request/request-context.js';
import { createLogger } from '../../../src/platform/logging/logger.js';

class LimitsDto {
  @Integer({ doc: 'How often.', min: 1, max: 10 })
  perMinute!: number;
}

class ThingDto {
  @Text({ doc: 'A name.', min: 1, max: 20 })
  name!: string;

  @FreeObject({ doc: 'Data.', optional: true, aliases: ['payload'] })
  input?: object;

  @Nested(() => LimitsDto, { doc: 'Limits.', optional: true })
  limits?: LimitsDto;
}

class ThingReply {
  @Text({ doc: 'A name.', max: 20 })
  name!: string;
}

/** Everything but /open wants a credential, as on the real service; whether it holds is no part of this test. */
@Injectable()
class FakeGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    if (request.path.startsWith('/open') || request.headers.authorization === 'Bearer good') return true;
    throw new Problem('UNAUTHENTICATED', 'Send a credential.');
  }
}

@ApiTags('Operations')
@Controller()
class ThingsController {
  handled = 0;

  @Post(['things', 'api/v1/llm/things'])
  @Replies(201, ThingReply)
  make(@JsonBody(ThingDto) body: ThingDto) {
    this.handled++;
    return { name: body.name, input: body.input ?? null, perMinute: body.limits?.perMinute ?? null };
  }

  @Get('things')
  @Replies(200, ThingReply)
  list(@QueryParams(PageQuery) query: PageQuery) {
    return { ...query };
  }

  @Get('things/:id')
  @Replies(200, ThingReply)
  one(@PathParam('id', 'agt') id: string) {
    return { id };
  }

  @Post('open/bytes')
  @Replies(200, null)
  bytes(@Req() request: Request) {
    return { bytes: bodyBytes(request).length, trace: requestContext.getStore()?.traceId ?? null };
  }

  @Post('open/form')
  @Replies(200, null)
  form(@Req() request: Request) {
    return Object.fromEntries(formBody(request));
  }

  @Get('open/context')
  @Replies(200, null)
  context() {
    const { requestId, address, traceId } = requestContext.getStore()!;
    return { requestId, address, traceId };
  }

  @Get('open/reply')
  @Replies(200, null)
  @Replies(202, null)
  varying() {
    return reply(202, { status: 'pending_hitl' }, { Location: '/elsewhere' });
  }

  @Get('open/nothing')
  @Replies(204, null)
  nothing() {
    return reply(204, null);
  }

  @Get('open/undeclared-status')
  @Replies(200, null)
  undeclaredStatus() {
    return reply(418, {});
  }

  @Get('open/undeclared-code')
  @Replies(200, null, 'STOPPED')
  undeclaredCode() {
    throw new Problem('CONFLICT', 'Not declared.');
  }

  @Get('open/declared-code')
  @Replies(200, null, 'HITL_EXPIRED')
  declaredCode() {
    throw new Problem('HITL_EXPIRED', 'Too late.', {
      members: { request: { id: 'hitl_1' }, code: 'FORGED' },
      headers: { 'X-Extra': '1' },
    });
  }

  @Get('open/bug')
  @Replies(200, null)
  bug() {
    throw new TypeError('canary-secret in src/somewhere.ts');
  }

  @Get('open/sql')
  @Replies(200, null)
  sql() {
    throw new QueryFailedError('select canary', ['canary-secret'], Object.assign(new Error('canary'), { code: '42601' }));
  }

  @Get('open/away')
  @Replies(200, null)
  away() {
    throw new QueryFailedError('select 1', [], Object.assign(new Error('gone'), { code: 'ECONNREFUSED' }));
  }
}

@Module({ controllers: [ThingsController], providers: [{ provide: APP_GUARD, useClass: FakeGuard }] })
class ThingsModule {}

/** A small application behind the real pipeline, without a database, on a free port. */
export async function startThings(settings: Partial<PipelineSettings> = {}) {
  const lines: string[] = [];
  const logger = createLogger({ logLevel: 'debug' }, { write: (line) => void lines.push(line) });
  const options = { ...APP_OPTIONS, logger: false, abortOnError: false } as const;
  const app = await NestFactory.create<NestExpressApplication>(ThingsModule, options);
  configureApp(app, { corsOrigins: [], trustedProxies: [], ...settings }, logger);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  return {
    app,
    port,
    url: `http://127.0.0.1:${port}`,
    /** Log lines so far, parsed: one that is not JSON fails the test that reads them. */
    log: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    handled: () => app.get(ThingsController).handled,
    stop: () => app.close(),
  };
}
