/** What an anchor is known to have. */
export interface Anchored {
  readonly size: number;
  /** Base64, as in the checkpoint; absent where the anchor answers only with its size. */
  readonly root?: string;
  /** The whole signed note, and whatever signatures the anchor has added. */
  readonly note?: string;
}

/** A checkpoint of the platform's tree as an anchor keeps it. */
export type AnchoredNote = Required<Anchored>;

/** The newest signed checkpoint of the platform's tree in this database, with what shows that it continues an older one. */
export interface OurTree {
  readonly newest: AnchoredNote;
  /** RFC 6962 proof from the tree of so many leaves, at least 1 and at most the newest's, to the newest: base64 hashes. */
  prove(from: number): Promise<readonly string[]>;
}

/**
 * A store outside of the database where signed checkpoints of the platform's tree are kept: what a rewritten or restored database
 * cannot take back.
 */
export interface Anchor {
  /** As configured: `file:<folder>`, `witness:<url>`. Names its row of watermarks. */
  readonly name: string;
  /** It answers only when it is shown our newest checkpoint. */
  readonly answersOnlyWhenShown?: boolean;
  /**
   * The newest checkpoint that it has of this origin (`<instance>/platform`); undefined while it has none, or would
   * have to be shown ours.
   *
   * @param ours committed and signed; it may be kept in passing
   * @throws Error when it cannot be asked
   */
  newest(origin: string, ours?: OurTree): Promise<Anchored | undefined>;
  /**
   * Keeps our newest checkpoint for good; returns it once it is kept. What it has already, it may be given again.
   *
   * @param known what it was last known to have
   * @throws AnchorContradicts when what it has is no beginning of our tree
   * @throws Error when it could not be kept; nothing is lost, it is tried again
   */
  publish(origin: string, ours: OurTree, known?: Anchored): Promise<AnchoredNote>;
  /** Notes that what it has is given up: the next checkpoint need not continue it. Absent where its operator has to see to that. */
  giveUp?(origin: string, lost: Anchored): Promise<void>;
}

/** An anchor has a checkpoint that our tree does not reach, or of another history. */
export class AnchorContradicts extends Error {
  override readonly name = 'AnchorContradicts';

  constructor(
    readonly anchored: Anchored,
    message: string,
  ) {
    super(message);
  }
}
