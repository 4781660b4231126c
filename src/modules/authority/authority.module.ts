import { Module } from '@nestjs/common';
import { CapabilitiesModule } from '../capabilities/capabilities.module.js';
import { TasksModule } from '../tasks/tasks.module.js';
import { DeciderQuery } from './decider.query.js';
import { FactsQuery } from './facts.query.js';

/** Answers one question for the gate and for every decision: what is true of this agent and this capability now. */
@Module({ imports: [CapabilitiesModule, TasksModule], providers: [DeciderQuery, FactsQuery], exports: [DeciderQuery, FactsQuery] })
export class AuthorityModule {}
