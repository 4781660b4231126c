import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';

/** Passkeys, for installations without a provider. */
@Module({ imports: [OrganizationsModule] })
export class PasskeysModule {}
