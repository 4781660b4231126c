import type { AnswerFacts } from '../family.js';

/** An event of a stream, in the form of server-sent events (WHATWG HTML, section 9.2). */
export interface StreamEvent {
  readonly event?: string | undefined;
  readonly data: string;
}

/** Reads a provider's stream event by event, and says what the client gets. */
export interface StreamReader {
  /**
   * @returns what goes out for an event, at once
   * @throws SyntaxError, StreamFault where it is none of the family's
   */
  read(event: StreamEvent): readonly StreamEvent[];
  /** The events by which a whole answer ends; undefined until the provider has sent the last. They go out once the call is closed. */
  readonly ending: readonly StreamEvent[] | undefined;
  /** What is known of the answer so far. */
  facts(): AnswerFacts;
}

/** As it goes over the wire. */
export function eventText({ event, data }: StreamEvent): string {
  const lines = data.includes('\n') ? data.split('\n').map((line) => `data: ${line}\n`).join('') : `data: ${data}\n`;
  return event === undefined ? `${lines}\n` : `event: ${event}\n${lines}\n`;
}
