import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { CONFIG, type CompleteConfig } from '../config/config.js';
import { Metrics } from './metrics.js';

/** Prometheus needs one; more than a few are somebody else's. */
const CONNECTIONS = 20;
const CONTENT_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Serves `GET /metrics` on METRICS_PORT, and nothing else. The API's port never has it: whoever may call need not see how things stand. */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  private server: Server | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: CompleteConfig,
    private readonly metrics: Metrics,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { metricsPort: port, host } = this.config;
    if (port === undefined) return;
    const server = this.server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (...call) => this.answer(...call));
    server.maxConnections = CONNECTIONS;
    // Heard for as long as it listens: a machine without file descriptors is no reason to end.
    await new Promise<void>((done, failed) => server.on('error', failed).listen({ port, host }, done));
  }

  async onApplicationShutdown(): Promise<void> {
    const { server } = this;
    if (server === undefined) return;
    server.closeAllConnections();
    await new Promise<void>((done) => void server.close(() => done()));
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const [path] = (request.url ?? '').split('?', 1);
    if (path !== '/metrics') return refuse(response, 404, 'Metrics are at /metrics.');
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      return refuse(response, 405, 'Metrics are read by GET.');
    }
    void this.metrics.text().then(
      (text) => void response.writeHead(200, { 'Content-Type': CONTENT_TYPE }).end(text),
      () => refuse(response, 500, 'The metrics could not be written.'),
    );
  }
}

function refuse(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
}
