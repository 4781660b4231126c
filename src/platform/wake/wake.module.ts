import { Global, Module } from '@nestjs/common';
import { WaitingCallers } from './waiting-callers.js';
import { WaiterSlots } from './waiter-slots.js';
import { WakeChannel } from './wake-channel.js';
import { Waiters } from './waiters.js';

@Global()
@Module({ providers: [WaitingCallers, WaiterSlots, WakeChannel, Waiters], exports: [WaitingCallers, WaiterSlots, Waiters] })
export class WakeModule {}
