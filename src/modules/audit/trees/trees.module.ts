import { Module } from '@nestjs/common';
import { TreeKeeper } from './tree-keeper.service.js';

/** Integration of leaves, the map, checkpoints and proofs. */
@Module({ providers: [TreeKeeper], exports: [TreeKeeper] })
export class TreesModule {}
