import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { Access } from '../auth/access/access.decorator.js';
import { serverVersion } from '../config/server-version.js';
import { ReservedPool } from '../database/reserved-pool.js';
import { faultOf } from './reply/database-faults.js';
import { unavailable } from './reply/failure.js';
import { Replies } from './reply/replies.js';

class VersionReply {
  @ApiProperty({ example: '0.1.0', description: 'Of the server that answers.' }) version!: string;
  @ApiProperty({ example: 'CreateLanguageModels20261121001100', description: 'The newest migration that the database has had.' })
  schema!: string;
}

@ApiTags('Operations')
@Controller('version')
export class VersionController {
  private looking: Promise<VersionReply> | undefined;

  constructor(private readonly reserve: ReservedPool) {}

  /** Which version answers, on which schema. @throws Problem UNAVAILABLE while the database is away, or held */
  @Get()
  @ApiOperation({ operationId: 'version.get', summary: 'Which version answers, on which schema' })
  @Access('public')
  @Replies(200, VersionReply)
  get(): Promise<VersionReply> {
    // However many ask, one connection is enough.
    return (this.looking ??= this.look().finally(() => (this.looking = undefined)));
  }

  private async look(): Promise<VersionReply> {
    const rows = await this.reserve.run('select name from migrations order by id desc limit 1', []).catch((error: unknown) => {
      throw unavailable(faultOf(error)?.fault ?? 'unreachable');
    });
    return { version: serverVersion(), schema: rows[0]!.name as string };
  }
}
