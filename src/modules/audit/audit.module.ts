import { Module } from '@nestjs/common';
import { AuditQuery } from './query/audit.query.js';

@Module({ providers: [AuditQuery], exports: [AuditQuery] })
export class AuditModule {}
