import { Global, Module } from '@nestjs/common';
import { HeldCallers } from './held-callers.js';
import { Places } from './places.js';
import { WakeChannel } from './wake-channel.js';
import { Waiters } from './waiters.js';

@Global()
@Module({ providers: [HeldCallers, Places, WakeChannel, Waiters], exports: [HeldCallers, Places, Waiters] })
export class WakeModule {}
