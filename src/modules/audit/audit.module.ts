import { Module } from '@nestjs/common';
import { SignedErasures } from './erasures/signed-erasures.service.js';
import { AuditQuery } from './query/audit.query.js';

@Module({ providers: [AuditQuery, SignedErasures], exports: [AuditQuery, SignedErasures] })
export class AuditModule {}
