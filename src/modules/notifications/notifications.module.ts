import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../organizations/organizations.module.js';
import { TeamsModule } from '../teams/teams.module.js';
import { CHANNEL_CONTROLLERS, CHANNEL_PROVIDERS } from './channels/channel-parts.js';
import { DecisionLinksService } from './decisions/decision-links.js';
import { NotificationsPersonalData } from './personal-data.store.js';

/** People and other systems learn of requests and executions, and people decide from where they are. */
@Module({
  imports: [OrganizationsModule, TeamsModule],
  controllers: [...CHANNEL_CONTROLLERS],
  providers: [...CHANNEL_PROVIDERS, DecisionLinksService, NotificationsPersonalData],
})
export class NotificationsModule {}
