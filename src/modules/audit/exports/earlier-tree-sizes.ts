import { PLATFORM_TREE } from '../../../domain/audit/notes/checkpoint.js';
import type { ExportSource } from '../../../domain/audit/export/export-source.js';

/** Sizes from which a file is to show that its trees go on. */
export interface EarlierTreeSizes {
  readonly since?: number;
  readonly platformSince?: number;
}

export interface RefusedSize {
  readonly parameter: keyof EarlierTreeSizes;
  readonly message: string;
}

/**
 * Why a size cannot be shown from: whoever asks from one that the tree has not reached has to hear it, and not to find that a line is
 * missing. Undefined where all can.
 *
 * @param naming how one names an organization there
 */
export async function refusedSize(
  source: ExportSource, organizations: readonly string[], { since, platformSince }: EarlierTreeSizes, naming: string,
): Promise<RefusedSize | undefined> {
  const [only] = organizations;
  if (since !== undefined && (only === undefined || organizations.length > 1)) {
    return { parameter: 'since', message: `Each organization has a tree of its own: name one with ${naming}.` };
  }
  const wanted = [['since', only, since], ['platformSince', PLATFORM_TREE, platformSince]] as const;
  for (const [parameter, tree, size] of wanted) {
    const message = size === undefined ? undefined : await unreached(source, tree!, size);
    if (message !== undefined) return { parameter, message };
  }
  return undefined;
}

async function unreached(source: ExportSource, tree: string, since: number): Promise<string | undefined> {
  const { size } = (await source.checkpoint(tree)) ?? { size: 0 };
  if (since <= size) return undefined;
  return `The newest checkpoint is of ${size} leaves. If you hold a signed one of ${since}, this database is behind it: tell its operator.`;
}
