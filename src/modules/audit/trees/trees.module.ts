import { Module } from '@nestjs/common';
import { SigningKeyFact } from './signing-key.fact.js';
import { TreeKeeper } from './tree-keeper.service.js';

/** Integration of leaves, the map, checkpoints and proofs. */
@Module({ providers: [SigningKeyFact, TreeKeeper], exports: [TreeKeeper] })
export class TreesModule {}
