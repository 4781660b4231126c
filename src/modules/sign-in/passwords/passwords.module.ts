import { Module } from '@nestjs/common';
import { OrganizationsModule } from '../../organizations/organizations.module.js';
import { SignInPortsModule } from '../ports/ports.module.js';
import { SessionsModule } from '../sessions/sessions.module.js';
import { ChangePasswordService } from './change-password.service.js';
import { KeepPassword } from './keep-password.js';
import { LocalSignIn } from './local-sign-in.js';
import { OwnPassword } from './own-password.js';
import { PasswordVerifier } from './password-verifier.js';
import { PasswordHashing } from './password-hashing.js';
import { PasswordStore } from './password.store.js';
import { PasswordsController } from './passwords.controller.js';
import { SignInByPassword } from './sign-in-by-password.js';
import { SlowdownStore } from './throttling/slowdown.store.js';
import { Slowdowns } from './throttling/slowdowns.js';

/** Passwords, for installations without a provider. */
@Module({
  imports: [OrganizationsModule, SignInPortsModule, SessionsModule],
  controllers: [PasswordsController],
  providers: [
    PasswordStore, SlowdownStore, Slowdowns, PasswordHashing, LocalSignIn, PasswordVerifier, KeepPassword, OwnPassword, SignInByPassword,
    ChangePasswordService,
  ],
  exports: [SignInByPassword, ChangePasswordService, KeepPassword, OwnPassword, PasswordStore, LocalSignIn],
})
export class PasswordsModule {}
