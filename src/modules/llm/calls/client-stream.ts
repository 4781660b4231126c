import type { Response } from 'express';

/** Where the answer of a streamed call goes. */
export interface AnswerSink {
  /** Aborted once the client has gone. */
  readonly gone: AbortSignal;
  /** Whether something has gone out, so that no status can be answered any more. */
  readonly hasBegun: boolean;
  /** Resolves once the client has room for more. */
  write(text: string): Promise<void>;
  /** What goes out last, after the call is closed. */
  end(text: string): void;
}

/** Server-sent events to the client of a call. The client that reads slowly is waited for, so that nothing piles up. */
export class ClientStream implements AnswerSink {
  private readonly left = new AbortController();
  readonly gone = this.left.signal;

  constructor(private readonly response: Response) {
    // `close` comes after a whole answer, too.
    if (response.closed) this.left.abort();
    else response.once('close', () => response.writableFinished || this.left.abort());
  }

  get hasBegun(): boolean {
    return this.response.headersSent;
  }

  async write(text: string): Promise<void> {
    if (this.gone.aborted || text === '') return;
    this.begin();
    if (this.response.write(text)) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        this.response.off('drain', done);
        this.gone.removeEventListener('abort', done);
        resolve();
      };
      this.response.once('drain', done);
      this.gone.addEventListener('abort', done);
    });
  }

  end(text: string): void {
    if (this.gone.aborted) return;
    this.begin();
    this.response.end(text);
  }

  private begin(): void {
    if (this.response.headersSent) return;
    this.response.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8', 'Cache-Control': 'no-store', 'X-Accel-Buffering': 'no',
    });
  }
}
