import type { ServerResponse } from 'node:http';
import { type EventPosition, frameOf, type HitlEvent, isAfter, positionFrame } from './hitl-event.js';

/** Bytes that a client may leave unread. Beyond that the stream ends, and the client reconnects with its last id. */
const UNREAD_BYTES = 1024 * 1024;
/** After how many milliseconds a client is to reconnect. */
const RETRY_MS = 1_000;

/** Why a client loads its list anew. */
export type ResetReason = 'too_old' | 'too_many' | 'unknown';

const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-cache, no-store, no-transform',
  // Proxies (nginx, and those that took it over) would gather the events otherwise.
  'X-Accel-Buffering': 'no',
  // A connection that is done with its stream is done: nothing else would come on it while the server ends.
  Connection: 'close',
} as const;

/** One client's stream. Until it is live, new events are buffered behind the events that the client has missed. */
export class HitlEventsStream {
  private buffered: HitlEvent[] | undefined = [];
  private bufferedBytes = 0;
  private ended = false;
  private position: EventPosition = { txid: 0n, n: 0n };

  constructor(
    private readonly response: ServerResponse,
    private readonly concerns: (event: HitlEvent) => boolean,
  ) {}

  get isOver(): boolean {
    return this.ended || this.response.closed;
  }

  begin(): void {
    if (this.response.closed) return;
    this.response.writeHead(200, HEADERS);
    if (this.ended) this.response.end();
    else this.send(`retry: ${RETRY_MS}\n\n`);
  }

  /** Notes that the client knows all events up to this position. */
  setPosition(position: EventPosition): void {
    this.position = position;
  }

  /** Notes the position and sends it to the client. */
  sendPosition(position: EventPosition): void {
    if (isAfter(this.position, position)) return;
    this.setPosition(position);
    this.send(positionFrame(position));
  }

  reset(position: EventPosition, reason: ResetReason): void {
    this.setPosition(position);
    this.send(frameOf(position, 'reset', { reason }));
  }

  replay(events: readonly HitlEvent[]): void {
    for (const event of events) this.sendEvent(event);
  }

  /** Resolves once the client has taken what was sent, or has left. */
  drained(): Promise<void> {
    if (this.isOver || !this.response.writableNeedDrain) return Promise.resolve();
    return new Promise((resolve) => {
      const done = () => {
        this.response.off('drain', done).off('close', done);
        resolve();
      };
      this.response.on('drain', done).on('close', done);
    });
  }

  goLive(): void {
    const events = this.buffered ?? [];
    this.buffered = undefined;
    for (const event of events) this.sendEvent(event);
  }

  readonly deliver = (event: HitlEvent): void => {
    if (!this.concerns(event)) return;
    if (!this.buffered) {
      this.sendEvent(event);
      return;
    }
    this.buffered.push(event);
    this.bufferedBytes += event.frame.length;
    if (this.bufferedBytes > UNREAD_BYTES) this.abort();
  };

  /** Sends a comment, which keeps proxies from closing the connection, and the position, so that a quiet stream's id does not grow old. */
  heartbeat(position: EventPosition | undefined): void {
    if (!this.response.headersSent) return;
    this.send(':\n\n');
    if (position && !this.buffered) this.sendPosition(position);
  }

  end(): void {
    if (this.isOver) return;
    this.ended = true;
    if (this.response.headersSent) this.response.end();
  }

  private sendEvent(event: HitlEvent): void {
    if (!isAfter(event.position, this.position)) return;
    this.position = event.position;
    this.send(event.frame);
  }

  private send(text: string): void {
    if (this.isOver) return;
    this.response.write(text);
    if (this.response.writableLength > UNREAD_BYTES) this.abort();
  }

  /** Closes without flushing: the client would not read the buffer either. */
  private abort(): void {
    this.ended = true;
    this.response.destroy();
  }
}
