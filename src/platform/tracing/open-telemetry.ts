import { type Context, ROOT_CONTEXT, type SpanContext, SpanKind, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor, ParentBasedSampler, type SpanExporter, TraceIdRatioBasedSampler, TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Logger } from 'pino';
import { serverVersion } from '../config/server-version.js';
import { type Span, type SpanEnd, type SpanStart, Tracing } from './tracing.js';

export interface TraceTarget {
  /** Without `/v1/traces`. */
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly service: string;
  /** Part of the traces that begin here, from 0 to 1. Where a caller began one, it says itself whether it is kept. */
  readonly ratio: number;
}

const SEND_EVERY_MS = 1_000;
const SEND_WITHIN_MS = 3_000;
const LAST_SEND_WITHIN_MS = 2_000;
const KINDS = { server: SpanKind.SERVER, client: SpanKind.CLIENT };

/**
 * Sends spans by OTLP (HTTP, JSON), each second. What cannot be sent is dropped, and so is what comes when 2,048 wait: calls never wait
 * for it. Parents are named by whoever begins a span, so nothing is kept in asynchronous context.
 */
export class OpenTelemetry extends Tracing {
  readonly isOn = true;
  private readonly provider: TracerProvider;
  private readonly tracer: Tracer;

  constructor({ endpoint, headers, service, ratio }: TraceTarget, logger: Logger) {
    super();
    const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces`, headers, timeoutMillis: SEND_WITHIN_MS });
    this.provider = new TracerProvider({
      resource: resourceFromAttributes({ 'service.name': service, 'service.version': serverVersion() }),
      sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
      spanProcessors: [new BatchSpanProcessor({ exporter: telling(exporter, endpoint, logger), scheduledDelayMillis: SEND_EVERY_MS })],
    });
    this.tracer = this.provider.getTracer('countersign', serverVersion());
  }

  begin({ name, kind, parent, facts = {} }: SpanStart): Span {
    const options = { kind: kind === undefined ? SpanKind.INTERNAL : KINDS[kind], attributes: facts };
    const span = this.tracer.startSpan(name, options, contextOf(parent));
    return {
      traceparent: traceparentOf(span.spanContext()),
      end: ({ name: later, facts: more, failure }: SpanEnd = {}) => {
        if (later !== undefined) span.updateName(later);
        if (more !== undefined) span.setAttributes(more);
        if (failure !== undefined) span.setAttribute('error.type', failure).setStatus({ code: SpanStatusCode.ERROR });
        span.end();
      },
    };
  }

  /** Sends what is left, for a moment: a receiver that is away keeps no server from ending. */
  async close(): Promise<void> {
    const late = new Promise<void>((resolve) => void setTimeout(resolve, LAST_SEND_WITHIN_MS).unref());
    await Promise.race([this.provider.shutdown().catch(() => undefined), late]);
  }
}

/** One line when it begins to fail, and one when it works again. */
function telling(exporter: SpanExporter, endpoint: string, logger: Logger): SpanExporter {
  let isFailing = false;
  return {
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush?.() ?? Promise.resolve(),
    export: (spans, done) => exporter.export(spans, (result) => {
      const { code, error } = result;
      const fails = code !== 0;
      if (fails !== isFailing) {
        isFailing = fails;
        if (fails) logger.warn({ endpoint, reason: error?.message }, 'traces cannot be sent, and are dropped; calls do not wait for them');
        else logger.info({ endpoint }, 'traces are sent again');
      }
      done(result);
    }),
  };
}

/** @param traceparent one that was checked when it came in, or that was made here */
function contextOf(traceparent: string | null | undefined): Context {
  const [, traceId, spanId, flags] = (traceparent ?? '').split('-');
  if (traceId === undefined || spanId === undefined || flags === undefined) return ROOT_CONTEXT;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: parseInt(flags, 16) & 1, isRemote: true });
}

function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}
