import { type CanActivate, type ExecutionContext, Injectable, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { MaintenanceMode } from '../audit/maintenance-mode.js';
import { openPage } from './request/browser-routes.js';

const SERVED_IN_MAINTENANCE = 'countersign:served-in-maintenance';

/** Declares a route that is served in maintenance mode too: it changes nothing, and says what is wrong. */
export const ServedInMaintenance = () => SetMetadata(SERVED_IN_MAINTENANCE, true);

/**
 * The first of all guards: in maintenance mode nobody is served, and failed calls are not recorded, since the database may not be the
 * right one.
 */
@Injectable()
export class MaintenanceGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly maintenance: MaintenanceMode,
  ) {}

  /** @throws Problem UNAVAILABLE */
  canActivate(context: ExecutionContext): boolean {
    if (this.maintenance.because === undefined) return true;
    openPage(this.reflector, context);
    const targets = [context.getHandler(), context.getClass()];
    if (this.reflector.getAllAndOverride<boolean | undefined>(SERVED_IN_MAINTENANCE, targets) !== true) this.maintenance.assertServing();
    return true;
  }
}
