import { Global, Module } from '@nestjs/common';
import { Waiters } from './waiters.js';

@Global()
@Module({ providers: [Waiters], exports: [Waiters] })
export class WakeModule {}
