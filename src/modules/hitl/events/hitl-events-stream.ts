import type { ServerResponse } from 'node:http';
import { type EventPosition, frameOf, type HitlEvent, isAfter, positionFrame } from './hitl-event.js';

/** What a reader may leave unread, in bytes. Then the stream ends, and they come back with their last id. */
const UNREAD_BYTES = 1024 * 1024;
/** How soon a client shall come back, in milliseconds. */
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

/** One client's stream. Until it is live, what comes in is kept behind what the client has missed. */
export class HitlEventsStream {
  private waiting: HitlEvent[] | undefined = [];
  private waitingBytes = 0;
  private ended = false;
  private after: EventPosition = { txid: 0n, n: 0n };

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

  /** The client knows everything up to this place. */
  standsAt(place: EventPosition): void {
    this.after = place;
  }

  /** Says so to the client, too. */
  tellPlace(place: EventPosition): void {
    if (isAfter(this.after, place)) return;
    this.standsAt(place);
    this.send(positionFrame(place));
  }

  reset(place: EventPosition, reason: ResetReason): void {
    this.standsAt(place);
    this.send(frameOf(place, 'reset', { reason }));
  }

  replay(events: readonly HitlEvent[]): void {
    for (const event of events) this.tell(event);
  }

  /** Resolves once the client has taken what was sent, or nobody reads any longer. */
  room(): Promise<void> {
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
    const events = this.waiting ?? [];
    this.waiting = undefined;
    for (const event of events) this.tell(event);
  }

  readonly hear = (event: HitlEvent): void => {
    if (!this.concerns(event)) return;
    if (!this.waiting) {
      this.tell(event);
      return;
    }
    this.waiting.push(event);
    this.waitingBytes += event.frame.length;
    if (this.waitingBytes > UNREAD_BYTES) this.cut();
  };

  /** A line that clients ignore and proxies take for life, and where the stream stands: who hears nothing does not fall behind. */
  beat(place: EventPosition | undefined): void {
    if (!this.response.headersSent) return;
    this.send(':\n\n');
    if (place && !this.waiting) this.tellPlace(place);
  }

  end(): void {
    if (this.isOver) return;
    this.ended = true;
    if (this.response.headersSent) this.response.end();
  }

  private tell(event: HitlEvent): void {
    if (!isAfter(event.place, this.after)) return;
    this.after = event.place;
    this.send(event.frame);
  }

  private send(text: string): void {
    if (this.isOver) return;
    this.response.write(text);
    if (this.response.writableLength > UNREAD_BYTES) this.cut();
  }

  /** What stands in the buffer would not be read either. */
  private cut(): void {
    this.ended = true;
    this.response.destroy();
  }
}
