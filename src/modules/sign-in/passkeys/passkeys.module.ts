import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';
import { SignInSeamsModule } from '../seams/seams.module.js';

/** Passkeys, for installations without a provider. */
@Module({ imports: [OrganizationsModule, SignInSeamsModule] })
export class PasskeysModule {}
