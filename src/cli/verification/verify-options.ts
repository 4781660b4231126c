/** What is asked, wherever the log is read from. */
export interface VerifySourceOptions {
  readonly agentId?: string;
  /** Notes of checkpoints from earlier verifications, of this and other installations. */
  readonly remembered: readonly string[];
  /** Only these keys are believed, where any are given. */
  readonly verifierKeys: readonly string[];
  /** Of a database: nothing is compared with its rows, and nothing decided anew. */
  readonly integrityOnly: boolean;
  readonly onProgress: (entries: number, total: number) => void;
}

/** What anchors hang on; that a server would not start with the rest is nothing to a verification. */
export function anchorEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = ['AUDIT_ANCHORS', 'DATA_DIR', 'OUTBOUND_ALLOW'];
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
