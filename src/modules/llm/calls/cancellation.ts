import type { Deadline } from '../../gate/runtimes/deadline.js';
import { AnswerBroken, brokenOff, type ProviderFailure } from '../providers/provider-failure.js';

const LATE: ProviderFailure = { code: 'PROVIDER_TIMEOUT', message: 'The provider did not answer in time.' };

/** Ends a call to a provider: when the client goes, the server ends, or time is over. Whichever comes first is the reason. */
export class Cancellation {
  private readonly controller = new AbortController();
  private readonly timer: NodeJS.Timeout;
  private readonly onGone = () => this.end(brokenOff('CLIENT_CLOSED'));
  private readonly onEnding = () => this.end(brokenOff('SERVER_ENDED'));

  constructor(deadline: Deadline, private readonly ending?: AbortSignal, private readonly gone?: AbortSignal) {
    this.timer = setTimeout(() => this.end(LATE), Math.max(0, deadline.left()));
    ending?.addEventListener('abort', this.onEnding);
    gone?.addEventListener('abort', this.onGone);
    if (ending?.aborted) this.onEnding();
    else if (gone?.aborted) this.onGone();
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Why the call ended, where it was ended from here. */
  get failure(): ProviderFailure | undefined {
    return this.signal.aborted ? (this.signal.reason as AnswerBroken).failure : undefined;
  }

  /** Once the call is over: the signals of server and client live longer. */
  close(): void {
    clearTimeout(this.timer);
    this.ending?.removeEventListener('abort', this.onEnding);
    this.gone?.removeEventListener('abort', this.onGone);
  }

  private end(failure: ProviderFailure): void {
    if (!this.signal.aborted) this.controller.abort(new AnswerBroken(failure));
  }
}
