import type { Family } from './family.js';

/** Somebody who runs models, as the operator set it up. */
export interface ModelProvider {
  /** Conditions and entries know it by this name. */
  readonly name: string;
  readonly family: Family;
  readonly baseUrl: string;
  readonly key?: string;
  /** Names of its models; `*` stands for any characters. */
  readonly models: readonly string[];
  /** Models that are asked, in turn, where this provider cannot answer and nothing can have been generated. */
  readonly fallbacks: readonly string[];
}

/** The first provider, in the operator's order, that runs the model. */
export function providerOf<Provider extends Pick<ModelProvider, 'models'>>(
  providers: readonly Provider[], model: string,
): Provider | undefined {
  return providers.find(({ models }) => runs(models, model));
}

/** Whether one of the patterns stands for the model. */
export function runs(patterns: readonly string[], model: string): boolean {
  return patterns.some((pattern) => fits(pattern, model));
}

/** Each piece between stars is looked for behind the one before: no pattern takes longer than its length by the name's. */
function fits(pattern: string, model: string): boolean {
  const pieces = pattern.split('*');
  if (pieces.length === 1) return pattern === model;
  const [first, last] = [pieces[0]!, pieces.at(-1)!];
  if (!model.startsWith(first) || !model.endsWith(last) || model.length < first.length + last.length) return false;
  let from = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const at = model.indexOf(piece, from);
    if (at < 0) return false;
    from = at + piece.length;
  }
  return from <= model.length - last.length;
}
