import type { ReadStatement } from '../../../platform/audit/record-keepers.js';
import type { AskedAnchors } from './ask-anchors.js';

/** What stands outside of the database, for whoever rests on it. */
export abstract class Anchors {
  /**
   * Compares every anchor with this database; one that is ahead of it, or contradicts it, sets maintenance mode.
   * @throws Problem UNAVAILABLE in maintenance mode
   */
  abstract agree(): Promise<void>;
  /** The size of the platform's tree that every configured anchor is known to have. */
  abstract anchoredSize(run: ReadStatement): Promise<number>;
  /** The newest checkpoint of each anchor that can show one, and which could not. */
  abstract newest(): Promise<AskedAnchors>;
}
