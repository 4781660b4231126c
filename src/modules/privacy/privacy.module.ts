import { Module } from '@nestjs/common';

/** What a person may ask of their data: a copy of it, and its end. */
@Module({})
export class PrivacyModule {}
