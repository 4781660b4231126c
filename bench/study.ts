import type { Goal } from './goals.js';
import type { LoadGenerator } from './load/load-generator.js';
import type { Options } from './options.js';
import type { Progress } from './progress.js';
import type { Stage } from './stage.js';

/** What a study works with; the stage stands, and the agents are registered. */
export interface StudyContext {
  readonly stage: Stage;
  /** Of all agents. */
  readonly tokens: readonly string[];
  readonly load: LoadGenerator;
  readonly options: Options;
  /** For files of its own. */
  readonly workFolder: string;
  readonly progress: Progress;
}

export interface Studied {
  readonly text: string;
  /** For `--json`. */
  readonly values: unknown;
  /** For the table at the end. */
  readonly goals?: readonly Goal[];
}

/** What is measured otherwise than as a ratio to a bare insert. */
export interface Study {
  readonly key: string;
  /** Takes minutes, so it is left out where no figures are named. */
  readonly onlyWhenNamed?: true;
  run(context: StudyContext): Promise<Studied>;
}
