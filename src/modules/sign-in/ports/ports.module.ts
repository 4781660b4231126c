import { Module } from '@nestjs/common';
import { ProviderLogout } from './provider-logout.js';
import { RenewalSignal } from './renewal-signal.js';
import { SignInForm } from './sign-in-form.js';
import { SpentOnceStore } from './spent-once.store.js';

/** What the ways of signing in share. */
@Module({
  providers: [SignInForm, SpentOnceStore, RenewalSignal, ProviderLogout],
  exports: [SignInForm, SpentOnceStore, RenewalSignal, ProviderLogout],
})
export class SignInPortsModule {}
