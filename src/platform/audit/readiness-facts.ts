import { Injectable } from '@nestjs/common';

/** Something that readiness tells beside the clock and the database. */
export interface ReadinessFact {
  readonly name: string;
  /**
   * Members of the answer, in camelCase.
   * @throws Problem UNAVAILABLE when calls cannot be served for it
   */
  look(): Promise<Record<string, number | string>>;
}

/** Modules register what of theirs belongs to readiness. */
@Injectable()
export class ReadinessFacts {
  private readonly facts: ReadinessFact[] = [];

  register(fact: ReadinessFact): void {
    this.facts.push(fact);
  }

  /** All of them in the order of registration, joined. */
  async look(): Promise<Record<string, number | string>> {
    const members = await Promise.all(this.facts.map((fact) => fact.look()));
    return Object.assign({}, ...members) as Record<string, number | string>;
  }
}
