import { Module } from '@nestjs/common';

/** Retention: archives, and the end of what they hold. */
@Module({})
export class SweepsModule {}
