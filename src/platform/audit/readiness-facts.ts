import { Injectable } from '@nestjs/common';
import { Registry } from './registry.js';

/** Something that readiness shows beside the clock and the database. */
export interface ReadinessFact {
  readonly name: string;
  /**
   * Members of the answer, in camelCase.
   * @throws Problem UNAVAILABLE when calls cannot be served for it
   */
  look(): Promise<Record<string, number | string>>;
}

@Injectable()
export class ReadinessFacts extends Registry<ReadinessFact> {
  /** All of them in the order of registration, joined. */
  async look(): Promise<Record<string, number | string>> {
    const members = await Promise.all(this.all().map((fact) => fact.look()));
    return Object.assign({}, ...members) as Record<string, number | string>;
  }
}
