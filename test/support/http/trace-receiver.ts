import { eventually } from '../running/eventually.js';
import { type Receiver, startReceiver } from './receiver.js';

/** A span as OTLP's JSON has it (opentelemetry-proto, trace/v1), its attributes by name. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  /** 1: internal, 2: server, 3: client. */
  readonly kind: number;
  readonly isError: boolean;
  readonly facts: Readonly<Record<string, unknown>>;
  /** In nanoseconds of Unix time. */
  readonly from: bigint;
  readonly to: bigint;
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number | string; readonly boolValue?: boolean };
}

interface WireSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code?: number };
}

interface WireTraces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[];
  }[];
}

export interface TraceReceiver extends Receiver {
  /** What it was sent so far, raw. */
  text(): string;
  resources(): Readonly<Record<string, unknown>>[];
  /** The spans of a trace, once there are these, by name and how often. */
  trace(traceId: string, names: readonly string[]): Promise<ReceivedSpan[]>;
}

/** A receiver of OTLP by HTTP in JSON. */
export async function startTraceReceiver(): Promise<TraceReceiver> {
  const receiver = await startReceiver();
  receiver.standing({ body: {} });
  const bodies = () => receiver.requests.map(({ body }) => body);
  const sets = () => bodies().flatMap((body) => (JSON.parse(body) as WireTraces).resourceSpans);
  const spans = () => sets().flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans.map(read)));
  return {
    ...receiver,
    text: () => bodies().join('\n'),
    resources: () => sets().map(({ resource }) => factsOf(resource.attributes)),
    trace: (traceId, names) => eventually(() => {
      const found = spans().filter((span) => span.traceId === traceId);
      const [has, wanted] = [found.map(({ name }) => name).sort(), [...names].sort()];
      if (has.join() !== wanted.join()) throw new Error(`trace ${traceId} has ${has.join()}; wanted: ${wanted.join()}`);
      return found;
    }, { within: 15_000 }),
  };
}

function read({ traceId, spanId, parentSpanId, name, kind, attributes, status, ...times }: WireSpan): ReceivedSpan {
  return {
    traceId, spanId, parentSpanId, name, kind, isError: status.code === 2, facts: factsOf(attributes),
    from: BigInt(times.startTimeUnixNano), to: BigInt(times.endTimeUnixNano),
  };
}

function factsOf(attributes: readonly Attribute[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.boolValue ?? Number(value.intValue)]));
}
