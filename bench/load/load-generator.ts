/** One stretch of load: POSTs of one body over keep-alive connections, each as the next of the callers in turn. */
export interface LoadOrder {
  readonly url: string;
  readonly tokens: readonly string[];
  readonly body: string;
  readonly connections: number;
  readonly seconds: number;
  /** What else each request has in its header. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Answers other than 2xx, and connections that failed or hung. */
  readonly failed: number;
}

/** A load generator in a process of its own. */
export interface LoadGenerator {
  readonly name: string;
  run(order: LoadOrder): Promise<LoadResult>;
}
