import { Module } from '@nestjs/common';
import { ExecutionsModule } from '../executions/executions.module.js';
import { GateModule } from '../gate/gate.module.js';
import { RuntimeSelection } from '../gate/runtimes/runtime-selection.js';
import { AnswerWorkService } from './answer-work.service.js';
import { NodeController } from './node.controller.js';
import { NodeRuntime } from './node.runtime.js';
import { NodeService } from './node.service.js';
import { NodeWorkQuery } from './node-work.query.js';
import { NodeWorkStore } from './node-work.store.js';
import { NodePersonalData } from './personal-data.store.js';
import { StartWorkService } from './start-work.service.js';

@Module({
  imports: [ExecutionsModule, GateModule],
  controllers: [NodeController],
  providers: [AnswerWorkService, NodePersonalData, NodeRuntime, NodeService, NodeWorkQuery, NodeWorkStore, StartWorkService],
})
export class NodeModule {
  constructor(runtimes: RuntimeSelection, node: NodeRuntime) {
    runtimes.register(node);
  }
}
