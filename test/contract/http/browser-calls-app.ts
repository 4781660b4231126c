import type { AddressInfo } from 'node:net';
import { Controller, Get, Module, Post, Req } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { Request } from 'express';
import { APP_OPTIONS, configureApp } from '../../../src/configure-app.js';
import { Access, Caller } from '../../../src/platform/auth/access/access.decorator.js';
import { AccessGuard } from '../../../src/platform/auth/access/access.guard.js';
import { AuthJournal } from '../../../src/platform/auth/failures/auth-journal.js';
import type { PresentedCredentials } from '../../../src/platform/auth/credentials/bearer.js';
import { BrowserCalls } from '../../../src/platform/auth/access/browser-calls.js';
import {
  ABSENT, type CredentialSource, CredentialSources, type Presented,
} from '../../../src/platform/auth/credentials/credential-source.js';
import { Identification } from '../../../src/platform/auth/credentials/identification.js';
import type { Caller as VerifiedCaller, Principal, UserPrincipal } from '../../../src/platform/auth/access/principal.js';
import { scopeOfOrganization } from '../../../src/platform/auth/access/scope.js';
import { CONFIG } from '../../../src/platform/config/config.js';
import { IdempotencyKeys } from '../../../src/platform/database/transaction/idempotency.js';
import { StatementsOnPool } from '../../../src/platform/database/statements/statements-on-pool.js';
import { FormRoute, PageRoute, SameSiteRoute } from '../../../src/platform/http/request/browser-routes.js';
import { CallerCheck } from '../../../src/platform/auth/credentials/caller-check.js';
import { CallGuard } from '../../../src/platform/http/request/call.guard.js';
import { formFields } from '../../../src/platform/http/request/form-fields.js';
import { Problem } from '../../../src/platform/http/reply/problem.js';
import { Replies } from '../../../src/platform/http/reply/replies.js';
import { requestContext } from '../../../src/platform/http/request/request-context.js';
import { createLogger } from '../../../src/platform/logging/logger.js';
import { AddressLimit } from '../../../src/platform/rate-limit/address-limit.js';
import { PrincipalLimit } from '../../../src/platform/rate-limit/principal-limit.js';

export const APP_URL = 'http://localhost:3000';
const KEY = 'imInFBztIIgqsOY9Gg/0Zw3BUAZY5plXjWZSz+46OmM=';

/** Credentials of this application are what they say: `ada`, `bob`; `ended` and `unknown` are dead. */
function presentedAs(text: string | undefined, credential: UserPrincipal['credential']): Presented {
  if (text === undefined) return ABSENT;
  if (text === 'ended') return { kind: 'ended', reason: 'it ended' };
  if (text === 'unknown') return { kind: 'invalid', reason: 'unknown session or key' };
  const principal: UserPrincipal = { kind: 'user', userId: text, organizationId: 'org_1', role: 'admin', credential };
  return { kind: 'verified', caller: { principal, scope: scopeOfOrganization('org_1'), actorId: text } };
}

const AT = new Date(0);

class Source implements CredentialSource {
  readonly kind = 'user';
  constructor(readonly credential: 'key' | 'session') {}

  present({ bearer, session }: PresentedCredentials): Presented {
    return presentedAs(this.credential === 'key' ? bearer : session, { kind: this.credential, id: 'x', createdAt: AT });
  }

  async stillHolds(principal: Principal): Promise<string | undefined> {
    if (principal.kind !== 'user' || principal.credential.kind !== this.credential) return 'asked about another credential';
    return principal.userId === 'late' ? 'closed meanwhile' : undefined;
  }
}

@Controller()
class ActionsController {
  constructor(private readonly identification: Identification) {}

  @Get('read')
  @Access('users.read-self')
  @Replies(200, null)
  read(@Caller() { principal }: VerifiedCaller) {
    return principal.kind === 'user' ? { userId: principal.userId, by: principal.credential.kind } : {};
  }

  @Post('change')
  @Access('users.write')
  @Replies(201, null)
  change() {
    return { via: requestContext.getStore()!.via };
  }

  @Get('changing-read')
  @Access('hitl.timeout')
  @Replies(200, null)
  changingRead() {
    return {};
  }

  @Post('form')
  @FormRoute()
  @PageRoute()
  @Access('users.write')
  @Replies(201, null)
  form(@Req() request: Request) {
    return { via: requestContext.getStore()!.via, ...formFields(request) };
  }

  @Post('open/form')
  @FormRoute()
  @SameSiteRoute()
  @Access('public')
  @Replies(201, null)
  openForm(@Req() request: Request) {
    return formFields(request);
  }

  @Get('open/page')
  @PageRoute()
  @Access('public')
  @Replies(200, null)
  async openPage(@Req() request: Request) {
    return { userId: (await this.identification.sessionOf(request))?.actorId ?? null };
  }

  @Get('open/failing-page')
  @PageRoute()
  @Access('public')
  @Replies(200, null)
  failingPage() {
    throw new Problem('NOT_FOUND', 'No <script>alert(1)</script> here.');
  }
}

/** What guards noted and counted. */
export interface Noted {
  readonly failures: string[];
  counted: number;
}

/** The real guards before a few routes, with a person's keys and sessions that are what they say, and no database. */
export async function startActions() {
  const noted: Noted = { failures: [], counted: 0 };
  const sources = new CredentialSources();
  sources.register(new Source('key'));
  sources.register(new Source('session'));
  const config = { appUrl: APP_URL, corsOrigins: ['https://console.example'], encryptionKey: KEY };

  @Module({
    controllers: [ActionsController],
    providers: [
      Identification, BrowserCalls, CallerCheck, CallGuard,
      { provide: CONFIG, useValue: config }, { provide: CredentialSources, useValue: sources },
      { provide: IdempotencyKeys, useValue: new IdempotencyKeys(config) }, { provide: StatementsOnPool, useValue: { run: () => [] } },
      { provide: AuthJournal, useValue: { failed: async (_: Request, reason: string) => void noted.failures.push(reason) } },
      { provide: AddressLimit, useValue: { take: async () => void noted.counted++ } },
      { provide: PrincipalLimit, useValue: { on: false } },
      { provide: APP_GUARD, useClass: AccessGuard },
    ],
  })
  class ActionsModule {}

  const app = await NestFactory.create<NestExpressApplication>(ActionsModule, { ...APP_OPTIONS, logger: false, abortOnError: false });
  const logger = createLogger({ logLevel: 'silent' }, { write: () => undefined });
  configureApp(app, { appUrl: APP_URL, corsOrigins: [], trustedProxies: [] }, logger);
  app.useGlobalGuards(app.get(CallGuard));
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  return { noted, url: `http://127.0.0.1:${port}`, stop: () => app.close() };
}
