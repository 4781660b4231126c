// The part of autocannon that the benchmark uses; the package brings no types.
declare module 'autocannon' {
  interface Request {
    headers?: Record<string, string>;
  }
  interface Client {
    setRequests(requests: Request[]): void;
  }
  interface Options {
    url: string;
    method?: string;
    body?: string;
    connections?: number;
    /** Seconds. */
    duration?: number;
    requests?: Request[];
    setupClient?(client: Client): void;
  }
  interface Result {
    /** Seconds. */
    duration: number;
    '2xx': number;
    /** Milliseconds. */
    latency: { p50: number; p99: number };
    non2xx: number;
    errors: number;
  }
  // eslint-disable-next-line no-restricted-syntax -- the package's own form
  export default function autocannon(options: Options): Promise<Result>;
}
