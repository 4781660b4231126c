import { Inject, Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import type pg from 'pg';
import type { Logger } from 'pino';
import { CONFIG, type CompleteConfig } from '../config/config.js';
import { newClient } from '../database/new-client.js';
import { LOGGER } from '../logging/token.js';

const CHANNEL = 'countersign_wake';
/** One notification gathers what was committed in this time: NOTIFY takes a lock of the whole database for its commit. */
const GATHER_MS = 20;
/** PostgreSQL takes payloads of less than 8,000 bytes. */
const PAYLOAD_BYTES = 7_900;
const RECONNECT_MS = 1_000;
const ANSWER_TIMEOUT_MS = 5_000;
/** A connection that no longer answers, though nobody closed it, is noticed within this time. */
const PULSE_MS = 10_000;

/**
 * Carries news of commits from replica to replica, on a connection of its own (DATABASE_LISTEN_URL goes past a pooler that
 * does not carry LISTEN). Sent after the commit and never within it. What is lost while the connection is away is found by
 * looking: whoever waits asks `isOpen`.
 */
@Injectable()
export class WakeChannel implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private client: pg.Client | undefined;
  private readonly gathered = new Set<string>();
  private flushing: NodeJS.Timeout | undefined;
  private reconnecting: NodeJS.Timeout | undefined;
  private pulse: NodeJS.Timeout | undefined;
  private stopping = false;
  private onNews: (topic: string) => void = () => undefined;
  private onOpen: () => void = () => undefined;

  constructor(
    @Inject(CONFIG) private readonly config: CompleteConfig,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** @param onNews a commit of some replica; @param onOpen news may have been missed up to now */
  listen(onNews: (topic: string) => void, onOpen: () => void): void {
    this.onNews = onNews;
    this.onOpen = onOpen;
  }

  /** Whether other replicas' news come in at this moment. */
  get isOpen(): boolean {
    return this.client !== undefined;
  }

  /** Notifies the other servers, within some 20 ms. */
  send(topic: string): void {
    if (this.client === undefined) return;
    this.gathered.add(topic);
    this.flushing ??= setTimeout(() => this.flush(), GATHER_MS);
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.connect();
    this.pulse = setInterval(() => void this.feelPulse(), PULSE_MS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.reconnecting);
    clearTimeout(this.flushing);
    clearInterval(this.pulse);
    const client = this.client;
    this.client = undefined;
    await client?.end().catch(() => undefined);
  }

  private async connect(): Promise<void> {
    const client = newClient({
      url: this.config.databaseListenUrl ?? this.config.databaseUrl, name: 'countersign wake', answerTimeoutMs: ANSWER_TIMEOUT_MS,
    });
    client.on('error', (error) => this.lost(client, error));
    client.on('end', () => this.lost(client));
    client.on('notification', ({ payload, processId }) => this.receive(client, payload, processId));
    try {
      await client.connect();
      // Notifications need not be on the disk: their subject is committed before, and after a crash of the database readers look again.
      await client.query('set synchronous_commit = off');
      await client.query(`listen ${CHANNEL}`);
    } catch (error) {
      this.lost(client, error);
      return;
    }
    if (this.stopping) {
      await client.end().catch(() => undefined);
      return;
    }
    this.client = client;
    this.onOpen();
  }

  private receive(client: pg.Client, payload: string | undefined, sender: number): void {
    // For its own commits this process has woken its waiters already.
    if (payload === undefined || sender === (client as unknown as { processID: number }).processID) return;
    for (const topic of payload.split(' ')) this.onNews(topic);
  }

  private lost(client: pg.Client, error?: unknown): void {
    if (this.client === client) {
      this.client = undefined;
      this.gathered.clear();
      if (!this.stopping) this.logger.warn({ err: error }, 'news of other replicas are away; waiting calls look for themselves');
    }
    client.removeAllListeners('error').on('error', () => undefined);
    void client.end().catch(() => undefined);
    if (this.stopping || this.client !== undefined) return;
    clearTimeout(this.reconnecting);
    this.reconnecting = setTimeout(() => void this.connect(), RECONNECT_MS).unref();
  }

  private async feelPulse(): Promise<void> {
    const client = this.client;
    await client?.query('select 1').catch((error: unknown) => this.lost(client, error));
  }

  private flush(): void {
    this.flushing = undefined;
    const client = this.client;
    if (client === undefined) return;
    for (const payload of payloadsOf(this.gathered)) {
      client.query('select pg_notify($1, $2)', [CHANNEL, payload]).catch((error: unknown) => this.lost(client, error));
    }
    this.gathered.clear();
  }
}

/** Ids have no spaces, so a space parts them. */
export function* payloadsOf(topics: Iterable<string>): Generator<string> {
  let payload = '';
  for (const topic of topics) {
    if (payload !== '' && payload.length + 1 + topic.length > PAYLOAD_BYTES) {
      yield payload;
      payload = '';
    }
    payload = payload === '' ? topic : `${payload} ${topic}`;
  }
  if (payload !== '') yield payload;
}
