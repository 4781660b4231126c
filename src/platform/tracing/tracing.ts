/** Names, ids, codes and counts, never what people wrote: whoever reads traces need not be allowed to read the log. */
export type SpanFacts = Readonly<Record<string, string | number | boolean>>;

export interface SpanStart {
  readonly name: string;
  /** `server`: a call that came in; `client`: one that goes out; else work of our own. */
  readonly kind?: 'server' | 'client';
  /** W3C trace context of what caused it; without one, a trace begins here. */
  readonly parent?: string | null | undefined;
  readonly facts?: SpanFacts;
}

export interface SpanEnd {
  /** Where it is known only at the end. */
  readonly name?: string;
  readonly facts?: SpanFacts;
  /** A code, where it failed. */
  readonly failure?: string | undefined;
}

/** A piece of work that takes time. */
export interface Span {
  /** W3C trace context by which what follows is its child. */
  readonly traceparent: string;
  end(how?: SpanEnd): void;
}

/** Where the gate and its runtimes tell what took how long. Without OTEL_EXPORTER_OTLP_ENDPOINT nobody listens. */
export abstract class Tracing {
  /** Asked before anything is made for a span. */
  abstract readonly isOn: boolean;
  abstract begin(start: SpanStart): Span;
  abstract close(): Promise<void>;
}

const NO_SPAN: Span = { traceparent: '', end: () => undefined };

export class NoTracing extends Tracing {
  readonly isOn = false;
  begin(): Span {
    return NO_SPAN;
  }
  close(): Promise<void> {
    return Promise.resolve();
  }
}
