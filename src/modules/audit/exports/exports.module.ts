import { Module } from '@nestjs/common';

/** The log as a file that can be verified without this server. */
@Module({})
export class ExportsModule {}
