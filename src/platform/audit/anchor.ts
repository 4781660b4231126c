/** A checkpoint of the platform's tree as an anchor keeps it. */
export interface AnchoredNote {
  readonly size: number;
  /** Base64, as in the checkpoint. */
  readonly root: string;
  /** The whole signed note. */
  readonly note: string;
}

/**
 * A place outside of the database where signed checkpoints of the platform's tree are kept: what a rewritten or restored database
 * cannot take back.
 */
export interface Anchor {
  /** As configured: `file:<folder>`, `witness:<url>`. Names its row of watermarks. */
  readonly name: string;
  /**
   * The newest checkpoint that it has of this origin (`<instance>/platform`); undefined while it has none.
   * @throws Error when it cannot be asked
   */
  newest(origin: string): Promise<AnchoredNote | undefined>;
  /**
   * Keeps a checkpoint for good; returns once it is kept. What it has already, it may be given again.
   *
   * @param from the newest one that it has had, if any
   * @param consistency RFC 6962 proof, from `from` to this note, of base64 hashes
   * @throws Error when it could not be kept; nothing is lost, it is tried again
   */
  publish(note: string, from: AnchoredNote | undefined, consistency: readonly string[]): Promise<void>;
}
