import { Module } from '@nestjs/common';
import { SignInForm } from './sign-in-form.js';

/** What the ways of signing in share. */
@Module({ providers: [SignInForm], exports: [SignInForm] })
export class SignInSeamsModule {}
