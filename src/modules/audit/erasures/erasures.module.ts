import { Module } from '@nestjs/common';
import { SignedErasures } from './signed-erasures.service.js';

/** What the log says of erasures, for whoever erases. */
@Module({ providers: [SignedErasures], exports: [SignedErasures] })
export class SignedErasuresModule {}
