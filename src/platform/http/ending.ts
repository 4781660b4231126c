import { Injectable } from '@nestjs/common';
import { Problem } from './reply/problem.js';

/** Whether this server has been asked to end: it serves for a while yet, so that whoever sends calls here notices first. */
@Injectable()
export class Ending {
  private hasBegun = false;

  begin(): void {
    this.hasBegun = true;
  }

  /** @throws Problem UNAVAILABLE */
  assertStays(): void {
    if (this.hasBegun) throw new Problem('UNAVAILABLE', 'This server is being shut down.', { headers: { 'Retry-After': '1' } });
  }
}
