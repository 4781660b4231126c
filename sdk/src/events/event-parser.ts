/** One event of a stream (WHATWG HTML, "Server-sent events"). */
export interface StreamEvent {
  /** Of the stream's position: what comes next follows it. */
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** Against a line that never ends. */
const LINE_MAX = 1024 * 1024;

/** Cuts text into events, in whatever pieces it comes. */
export class EventParser {
  /** The last position that was told, with or without an event. */
  lastId: string | undefined;
  /** Milliseconds to wait before coming back, as the service said. */
  retryMs: number | undefined;
  #rest = '';
  #id: string | undefined;
  #event = '';
  #data: string[] = [];

  /** @throws RangeError for a line that is too long */
  push(text: string): StreamEvent[] {
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > LINE_MAX) throw new RangeError('the line of an event is too long');
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  #line(line: string): StreamEvent | undefined {
    if (line === '') return this.#dispatched();
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!;
    if (field === 'event') this.#event = value;
    else if (field === 'data') this.#data.push(value);
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    else if (field === 'retry' && /^\d+$/.test(value)) this.retryMs = Number(value);
    return undefined;
  }

  #dispatched(): StreamEvent | undefined {
    // Half of an event does not move the position: it would be missed.
    this.lastId = this.#id;
    const [event, data] = [this.#event || 'message', this.#data];
    this.#event = '';
    this.#data = [];
    return data.length === 0 ? undefined : { id: this.lastId, event, data: data.join('\n') };
  }
}
