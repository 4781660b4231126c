import { Global, Module } from '@nestjs/common';
import { WakeChannel } from './wake-channel.js';
import { Waiters } from './waiters.js';

@Global()
@Module({ providers: [WakeChannel, Waiters], exports: [Waiters] })
export class WakeModule {}
