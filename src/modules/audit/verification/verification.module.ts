import { Module } from '@nestjs/common';

/** Verification at length: of trees, completeness and replay. */
@Module({})
export class VerificationModule {}
