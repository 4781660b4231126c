import { Module } from '@nestjs/common';
import { DecisionLinksService } from './decisions/decision-links.js';

/** People and other systems learn of requests and executions, and people decide from where they are. */
@Module({
  providers: [DecisionLinksService],
})
export class NotificationsModule {}
