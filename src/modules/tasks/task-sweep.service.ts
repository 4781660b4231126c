import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { Logger } from 'pino';
import { MaintenanceMode } from '../../platform/audit/maintenance-mode.js';
import { asService } from '../../platform/auth/access/call-context.js';
import { isPassing } from '../../platform/http/reply/failure.js';
import { LOGGER } from '../../platform/logging/token.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { EndTasksService } from './end-tasks.service.js';
import { TaskStore } from './task.store.js';

const SWEEP_EVERY_MS = 10_000;
const AT_ONCE = 200;

/**
 * Ends tasks that can be done no more: what they are part of has ended, or an agent of their chain has left. The gate refuses them
 * before that; here they come to an end in the log, and off the count of their agents' open tasks.
 */
@Injectable()
export class TaskSweep {
  private isSweeping = false;

  constructor(
    private readonly tasks: TaskStore,
    private readonly ending: EndTasksService,
    private readonly maintenance: MaintenanceMode,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly metrics: Metrics,
  ) {}

  @Interval(SWEEP_EVERY_MS)
  async tick(): Promise<void> {
    if (this.isSweeping || this.maintenance.because !== undefined) return;
    this.isSweeping = true;
    try {
      await asService('sweeper', () => this.sweep());
      this.metrics.count('countersign_sweeps_total', { sweep: 'tasks', outcome: 'done' });
    } catch (error) {
      this.metrics.count('countersign_sweeps_total', { sweep: 'tasks', outcome: 'failed' });
      if (!isPassing(error)) this.logger.error({ err: error }, 'tasks that are over could not be ended; the next sweep tries again');
    } finally {
      this.isSweeping = false;
    }
  }

  private async sweep(): Promise<void> {
    const refs = await this.tasks.orphaned(AT_ONCE);
    for (const organizationId of new Set(refs.map((ref) => ref.organizationId))) {
      await this.ending.endOrphans(organizationId, refs.filter((ref) => ref.organizationId === organizationId));
    }
  }
}
