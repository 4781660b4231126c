import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { MaintenanceMode } from '../audit/maintenance-mode.js';
import { openPage } from './request/browser-routes.js';

const SERVED_WHILE_HELD = 'countersign:served-while-held';

/** Declares what is answered also while the installation is held: it changes nothing, and tells what is wrong. */
export const ServedInMaintenance = () => SetMetadata(SERVED_WHILE_HELD, true);

/**
 * Stands before every other guard: while the installation is held nobody is let in, and nothing is noted of who knocked, since that would
 * be written into a database that may not be the right one.
 */
@Injectable()
export class MaintenanceGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly hold: MaintenanceMode,
  ) {}

  /** @throws Problem UNAVAILABLE */
  canActivate(context: ExecutionContext): boolean {
    if (this.hold.because === undefined) return true;
    openPage(this.reflector, context);
    const places = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<boolean | undefined>(SERVED_WHILE_HELD, places) !== true) this.hold.assertServing();
    return true;
  }
}
