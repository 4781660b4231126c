import { Module } from '@nestjs/common';

/** Integration of leaves, the map, checkpoints and proofs. */
@Module({})
export class TreesModule {}
