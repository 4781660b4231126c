import { Module } from '@nestjs/common';
import { ProviderLogout } from './provider-logout.js';
import { RenewalBell } from './renewal-bell.js';
import { SignInForm } from './sign-in-form.js';
import { SpentOnceStore } from './spent-once.store.js';

/** What the ways of signing in share. */
@Module({
  providers: [SignInForm, SpentOnceStore, RenewalBell, ProviderLogout],
  exports: [SignInForm, SpentOnceStore, RenewalBell, ProviderLogout],
})
export class SignInSeamsModule {}
