import type { ShownAnchor } from '../../../domain/audit/integrity/log-source.js';
import type { Anchor, Anchored, OurTree } from '../../../platform/audit/anchor.js';

/**
 * Why a database was not compared with an anchor: the anchor could not be asked; has nothing of this log; answers only to a checkpoint that
 * it is shown, and none was; has only a size, which is of another history.
 */
export const NOT_COMPARED = ['no_answer', 'nothing_kept', 'shown_nothing', 'other_history'] as const;

export interface AnchorNotCompared {
  readonly name: string;
  readonly because: (typeof NOT_COMPARED)[number];
}

/** Every anchor that was to be asked stands in one of the two. */
export interface AskedAnchors {
  readonly shown: readonly ShownAnchor[];
  readonly notCompared: readonly AnchorNotCompared[];
}

/** The newest checkpoint of each anchor. @param ours an anchor that is shown our tree may keep its checkpoint; undefined to show nothing */
export async function askAnchors(
  anchors: readonly Anchor[], origin: string, ours: OurTree | undefined, onSilent: (anchor: Anchor, error: unknown) => void,
): Promise<AskedAnchors> {
  const answers = await Promise.all(anchors.map((anchor) => anchor.newest(origin, ours).then(
    (anchored) => answerOf(anchor, anchored, ours !== undefined),
    (error: unknown): AnchorNotCompared => {
      onSilent(anchor, error);
      return { name: anchor.name, because: 'no_answer' };
    },
  )));
  return {
    shown: answers.filter((one) => !('because' in one)) as ShownAnchor[],
    notCompared: answers.filter((one) => 'because' in one),
  };
}

function answerOf(
  { name, answersOnlyWhenShown }: Anchor, anchored: Anchored | undefined, wasShown: boolean,
): ShownAnchor | AnchorNotCompared {
  if (answersOnlyWhenShown && !wasShown) return { name, because: 'shown_nothing' };
  if (!anchored) return { name, because: 'nothing_kept' };
  const { size, root, note } = anchored;
  return root === undefined || note === undefined ? { name, because: 'other_history' } : { size, root, note, name };
}
