import type { AddressInfo } from 'node:net';
import { Controller, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ApiTags } from '@nestjs/swagger';
import { APP_OPTIONS, configureApp } from '../../../src/configure-app.js';
import { PROBLEMS, type ProblemCode } from '../../../src/domain/problems.js';
import { PathParam } from '../../../src/platform/http/request/path-param.js';
import { Problem } from '../../../src/platform/http/reply/problem.js';
import { Replies } from '../../../src/platform/http/reply/replies.js';
import { createLogger } from '../../../src/platform/logging/logger.js';

const CODES = Object.keys(PROBLEMS) as ProblemCode[];

@ApiTags('Operations')
@Controller()
class RefusingController {
  @Post('api/v1/agents/:id/activate')
  @Replies(200, null, ...CODES)
  refuse(@PathParam('id') code: ProblemCode) {
    throw new Problem(code, `Because of ${code}.`, {
      errors: [{ pointer: '/name', message: 'is missing' }], members: { currentCapabilities: ['web.search'] },
      headers: { 'Retry-After': '7' },
    });
  }
}

@Module({ controllers: [RefusingController] })
class RefusingModule {}

/** The real pipeline, which refuses `POST /api/v1/agents/<code>/activate` by that code. */
export async function startRefusing(): Promise<{ url: string; stop(): Promise<void> }> {
  const logger = createLogger({ logLevel: 'error' }, { write: () => undefined });
  const app = await NestFactory.create<NestExpressApplication>(RefusingModule, { ...APP_OPTIONS, logger: false, abortOnError: false });
  configureApp(app, { corsOrigins: [], trustedProxies: [] }, logger);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, stop: () => app.close() };
}
