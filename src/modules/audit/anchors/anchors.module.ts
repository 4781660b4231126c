import { Module } from '@nestjs/common';

/** Where checkpoints are kept outside of the database, and what follows when they disagree with it. */
@Module({})
export class AnchorsModule {}
