import type { DtoClass } from '../fields/field-spec.js';

/** What a handler takes of its call, as its parameters' decorators say. What is not there it takes nothing of. */
export interface DeclaredInput {
  readonly body?: DtoClass;
  readonly query?: DtoClass;
}

const declared = new WeakMap<object, DeclaredInput>();
const NOTHING: DeclaredInput = {};

export function declareInput(prototype: object, method: string | symbol, input: DeclaredInput): void {
  const handler = Object.getOwnPropertyDescriptor(prototype, method)!.value as object;
  declared.set(handler, { ...declared.get(handler), ...input });
}

export function inputOf(handler: object): DeclaredInput {
  return declared.get(handler) ?? NOTHING;
}
