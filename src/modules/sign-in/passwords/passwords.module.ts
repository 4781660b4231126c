import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';
import { SignInSeamsModule } from '../seams/seams.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { ChangePasswordService } from './change-password.service.js';
import { KeepPassword } from './keep-password.js';
import { LocalSignIn } from './local-sign-in.js';
import { OwnPassword } from './own-password.js';
import { PasswordJudge } from './password-judge.js';
import { PasswordWork } from './password-work.js';
import { PasswordStore } from './password.store.js';
import { PasswordsController } from './passwords.controller.js';
import { SignInByPassword } from './sign-in-by-password.js';
import { SlowdownStore } from './slowdown.store.js';
import { Slowdowns } from './slowdowns.js';

/** Passwords, for installations without a provider. */
@Module({
  imports: [OrganizationsModule, SignInSeamsModule, SessionsModule],
  controllers: [PasswordsController],
  providers: [
    PasswordStore, SlowdownStore, Slowdowns, PasswordWork, LocalSignIn, PasswordJudge, KeepPassword, OwnPassword, SignInByPassword,
    ChangePasswordService,
  ],
  exports: [SignInByPassword, ChangePasswordService, KeepPassword, OwnPassword, PasswordStore, LocalSignIn],
})
export class PasswordsModule {}
