import { Module } from '@nestjs/common';
import { SignInForm } from './sign-in-form.js';
import { SpentOnceStore } from './spent-once.store.js';

/** What the ways of signing in share. */
@Module({ providers: [SignInForm, SpentOnceStore], exports: [SignInForm, SpentOnceStore] })
export class SignInSeamsModule {}
