import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { ReadinessFacts } from '../audit/readiness-facts.js';
import { Access } from '../auth/access/access.decorator.js';
import { clockSkewMs as skewOf, LARGEST_CLOCK_SKEW_MS } from '../database/faults/clock-watch.js';
import { Heartbeat } from '../database/faults/heartbeat.service.js';
import { ReservedPool } from '../database/reserved-pool.js';
import { OutboxWorker } from '../outbox/outbox.worker.js';
import { Ending } from './ending.js';
import { ServedInMaintenance } from './maintenance.guard.js';
import { faultOf } from './reply/database-faults.js';
import { unavailable } from './reply/failure.js';
import { Problem } from './reply/problem.js';
import { Replies } from './reply/replies.js';

class HealthReply {
  @ApiProperty({ example: 'ok' }) status!: string;
}

class ReadyReply {
  @ApiProperty({ example: 'ready' }) status!: string;
  @ApiProperty({ type: 'integer', description: "Milliseconds between this server's clock and the database's." }) clockSkewMs!: number;
  @ApiProperty({ type: 'integer', description: 'Effects that were given up, or wait for a part that is not set up.' })
  parkedEffects!: number;
  @ApiProperty({ type: 'integer', description: 'For how many seconds entries have stood that not every anchor knows; 0: there are none.' })
  unanchoredSeconds!: number;
  @ApiProperty({ type: 'integer', description: 'Notification channels that are off: this ENCRYPTION_KEY does not open their settings.' })
  unreadableChannels!: number;
  @ApiProperty({ type: 'integer', description: 'Deliveries to channels that wait; 10,000 stands for more.' }) deliveriesWaiting!: number;
  @ApiProperty({
    enum: ['current', 'retired', 'replaced'],
    description: 'Whether `AUDIT_SIGNING_KEY` is the key that signs. `retired`: it was rotated, and this server has the old one. ' +
      '`replaced`: another one is in the database, and nothing vouches for it.',
  })
  signingKey!: string;
  @ApiProperty({ required: false, description: 'What is not as it should be with the anchors, though calls are served.' })
  anchorWarning?: string;
  @ApiProperty({ required: false, description: 'Why entries are kept for less time than the law asks.' }) retentionWarning?: string;
  @ApiProperty({ required: false, description: 'Why longer is advised, with agents of high risk.' }) highRiskRetentionWarning?: string;
  @ApiProperty({ required: false, description: 'Why nothing old is swept.' }) archiveWarning?: string;
}

@ApiTags('Operations')
@ServedInMaintenance()
@Controller('health')
export class HealthController {
  private looking: Promise<ReadyReply> | undefined;

  constructor(
    private readonly reserve: ReservedPool,
    private readonly heartbeat: Heartbeat,
    private readonly outbox: OutboxWorker,
    private readonly facts: ReadinessFacts,
    private readonly ending: Ending,
  ) {}

  @Get()
  @ApiOperation({ operationId: 'health.check', summary: 'Whether the server is up' })
  @Access('public')
  @Replies(200, HealthReply)
  health(): HealthReply {
    return { status: 'ok' };
  }

  @Get('live')
  @ApiOperation({ summary: 'Whether the process serves' })
  @Access('public')
  @Replies(200, HealthReply)
  live(): HealthReply {
    return { status: 'ok' };
  }

  /**
   * Whether calls can be served: 503 while the database is away, cannot write or is in maintenance mode, its clock and ours differ, or this
   * server has been asked to end.
   */
  @Get('ready')
  @ApiOperation({
    summary: 'Whether calls can be served',
    description: '503 while the database is away, cannot write or is held, or this server ends; `detail` says which.',
  })
  @Access('public')
  @Replies(200, ReadyReply)
  ready(): Promise<ReadyReply> {
    // Whoever asks meanwhile gets the same answer: however many ask, one connection is enough.
    return (this.looking ??= this.look().finally(() => (this.looking = undefined)));
  }

  private async look(): Promise<ReadyReply> {
    this.ending.assertStays();
    const asked = Date.now();
    const now = await this.reserve.now().catch((error: unknown) => {
      throw unavailable(faultOf(error)?.fault ?? 'unreachable');
    });
    const clockSkewMs = skewOf(now, asked, Date.now());
    if (clockSkewMs > LARGEST_CLOCK_SKEW_MS) {
      const detail = `This server's clock differs from the database's by ${clockSkewMs} ms.`;
      throw new Problem('UNAVAILABLE', detail, { headers: { 'Retry-After': '5' } });
    }
    await this.heartbeat.assertWrites();
    const [parkedEffects, facts] = await Promise.all([this.outbox.parked(), this.facts.look()]);
    return { status: 'ready', clockSkewMs, parkedEffects, ...(facts as Omit<ReadyReply, 'status' | 'clockSkewMs' | 'parkedEffects'>) };
  }
}
