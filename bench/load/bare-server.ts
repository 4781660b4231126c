// What the governed server is compared with: the same framework and middleware, and one route that validates a DTO and
// inserts one row. It runs in a process of its own, started with the same flags as the governed one.
import 'reflect-metadata';
import { pipeline } from 'node:stream/promises';
import { type CanActivate, Controller, Injectable, Module, Post, Req, Res } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { ApiProperty } from '@nestjs/swagger';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import type { Request, Response } from 'express';
import { Agent, request as ask } from 'undici';
import { Column, CreateDateColumn, Entity, PrimaryGeneratedColumn, type Repository } from 'typeorm';
import { APP_OPTIONS, configureApp } from '../../src/configure-app.js';
import type { JsonObject } from '../../src/domain/json.js';
import { dataSourceOptions } from '../../src/platform/database/data-source.js';
import { FreeObject, Text } from '../../src/platform/http/fields/fields.js';
import { parsedBody } from '../../src/platform/http/request/body-reader.js';
import { JsonBody } from '../../src/platform/http/request/json-body.js';
import { Replies } from '../../src/platform/http/reply/replies.js';
import { createLogger } from '../../src/platform/logging/logger.js';
import { NestLogger } from '../../src/platform/logging/nest-logger.js';
import { CORS_ORIGIN } from '../figures.js';

@Entity('bare_calls')
class BareCall {
  @PrimaryGeneratedColumn('identity', { type: 'bigint' })
  id!: string;

  @Column('text')
  capability!: string;

  @Column('json')
  input!: object;

  @CreateDateColumn({ name: 'created_at' })
  createdAt!: Date;
}

class BareCallDto {
  @Text({ min: 1, max: 200, doc: 'Name of the capability.' })
  capability!: string;

  @FreeObject({ doc: 'What the action is done with.' })
  input!: JsonObject;
}

class BareReply {
  @ApiProperty() status!: string;
  @ApiProperty() id!: string;
}

@Injectable()
class AllowAllGuard implements CanActivate {
  canActivate(): boolean {
    return true;
  }
}

@Controller('api/v1')
class BareController {
  constructor(@InjectRepository(BareCall) private readonly calls: Repository<BareCall>) {}

  @Post('execute')
  @Replies(200, BareReply)
  async insert(@JsonBody(BareCallDto) { capability, input }: BareCallDto): Promise<BareReply> {
    const { identifiers } = await this.calls.insert({ capability, input });
    return { status: 'inserted', id: String(identifiers[0]!['id']) };
  }
}

/** Hands calls to a model on, and its answer back, as they are. */
@Controller('api/v1')
class PipeController {
  private readonly pool = new Agent();

  @Post('pipe')
  async pipe(@Req() request: Request, @Res() response: Response): Promise<void> {
    const answer = await ask(`${models}/chat/completions`, {
      dispatcher: this.pool, method: 'POST', body: JSON.stringify(parsedBody(request)), headers: { 'content-type': 'application/json' },
    });
    response.writeHead(answer.statusCode, { 'Content-Type': String(answer.headers['content-type']) });
    await pipeline(answer.body, response);
  }
}

const { BARE_PORT: port = '0', BARE_MODELS: models = '', DATABASE_URL: url = '' } = process.env;
const { DATABASE_POOL_SIZE = '10', LOG_LEVEL: logLevel = 'info' } = process.env;
const poolSize = Number(DATABASE_POOL_SIZE);

@Module({
  imports: [
    // Its own table is made at start; the migrations are the governed server's business.
    TypeOrmModule.forRoot({ ...dataSourceOptions({ url, poolSize }), migrations: [], entities: [BareCall], synchronize: true }),
    TypeOrmModule.forFeature([BareCall]),
  ],
  controllers: [BareController, PipeController],
  providers: [{ provide: APP_GUARD, useClass: AllowAllGuard }],
})
class BareModule {}

const logger = createLogger({ logLevel });
const app = await NestFactory.create<NestExpressApplication>(BareModule, { ...APP_OPTIONS, logger: new NestLogger(logger) });
configureApp(app, { corsOrigins: [CORS_ORIGIN], trustedProxies: [] }, logger);
process.once('SIGTERM', () => {
  // By exit, so that a CPU profile is written.
  void app.close().finally(() => process.exit(0));
});
await app.listen(Number(port), '127.0.0.1');
process.send?.('ready');
