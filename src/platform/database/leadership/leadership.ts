import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import type { Logger } from 'pino';
import { MaintenanceMode } from '../../audit/maintenance-mode.js';
import type { RunStatement } from '../../auth/credentials/credential-source.js';
import { CONFIG, type CompleteConfig } from '../../config/config.js';
import { LOGGER } from '../../logging/token.js';
import { newClient, SESSION } from '../new-client.js';

/** One replica at a time leads: it alone integrates leaves, signs and publishes. */
export const LEADER_LOCK = 715_517_006;
const LOOK_EVERY_MS = 1_000;
/** Above the session's own limits: past it nobody is there. */
const ANSWER_TIMEOUT_MS = 8_000;
/** The database notices within some 15 s that a leader's machine is gone, rather than within hours. */
const KEEPALIVES = { tcp_keepalives_idle: '5', tcp_keepalives_interval: '3', tcp_keepalives_count: '3' };

/** This replica's part among the others: leading them or not. */
export abstract class Leadership {
  /** Whether this replica leads, as far as it knows: only what goes over the leader's connection is sure of it. */
  abstract readonly isLeader: boolean;
  /** How often this replica has come to lead: while it is the same, nobody else has led. */
  abstract readonly term: number;
  /**
   * Works on the connection that holds the lead, one work after another: if the lead is lost meanwhile, what was not committed by then
   * fails. Statements commit singly.
   * @throws NotLeading
   */
  abstract run<Result>(work: (run: RunStatement) => Promise<Result>): Promise<Result>;
  /** The same, in one transaction. */
  abstract transact<Result>(work: (run: RunStatement) => Promise<Result>): Promise<Result>;
  /** Gives the lead up, and never takes it again: what this process was started with does not fit a leader. */
  abstract abstain(): void;
}

export class NotLeading extends Error {
  override readonly name = 'NotLeading';

  constructor() {
    super('this replica does not lead');
  }
}

/**
 * Leads by an advisory lock of a connection of its own that goes past a pooler (DATABASE_LISTEN_URL). The lock lives as long as
 * the connection, and the leader's writes go over the same one, so that no server writes as the leader that no longer is.
 */
@Injectable()
export class LeadershipByLock extends Leadership implements OnApplicationBootstrap, OnApplicationShutdown {
  private client: pg.Client | undefined;
  private leads = false;
  private leadsTaken = 0;
  private abstains = false;
  private stopping = false;
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> = Promise.resolve();
  /** The last work in line; works follow each other, as transactions on one connection must. */
  private line: Promise<unknown> = Promise.resolve();
  private waiting = 0;

  constructor(
    @Inject(CONFIG) private readonly config: CompleteConfig,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly maintenance: MaintenanceMode,
  ) {
    super();
  }

  get isLeader(): boolean {
    // In maintenance mode nobody leads: nothing of the database is integrated, signed or published.
    return this.leads && !this.stopping && this.maintenance.because === undefined;
  }

  get term(): number {
    return this.leadsTaken;
  }

  run<Result>(work: (run: RunStatement) => Promise<Result>): Promise<Result> {
    return this.inLine(async (client) => work(this.statementsOn(client)));
  }

  transact<Result>(work: (run: RunStatement) => Promise<Result>): Promise<Result> {
    return this.inLine(async (client) => {
      await client.query('begin');
      try {
        const result = await work(this.statementsOn(client));
        await client.query('commit');
        return result;
      } catch (error) {
        // On a connection whose state is not known any more nothing else may run.
        await client.query('rollback').catch((failure: unknown) => this.lost(client, failure));
        throw error;
      }
    });
  }

  abstain(): void {
    this.abstains = true;
    this.leads = false;
    if (this.client) this.lost(this.client);
  }

  onApplicationBootstrap(): void {
    this.look();
  }

  /** After everybody has stopped working: gives up the lead at once, rather than when the connection is missed. */
  async onApplicationShutdown(): Promise<void> {
    this.stopping = true;
    clearTimeout(this.timer);
    await this.looking;
    await this.line;
    this.leads = false;
    await this.client?.end().catch(() => undefined);
    this.client = undefined;
  }

  private look(): void {
    this.looking = this.lookOnce().finally(() => {
      if (!this.stopping) this.timer = setTimeout(() => this.look(), LOOK_EVERY_MS).unref();
    });
  }

  private async lookOnce(): Promise<void> {
    // Work under way on the connection shows soon enough whether the connection is alive.
    if (this.abstains || (this.leads && this.waiting > 0)) return;
    const client = this.client ?? (await this.connected());
    if (client === undefined || this.abstains) return;
    try {
      if (this.leads) {
        await client.query('select 1');
        return;
      }
      const { rows } = await client.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [LEADER_LOCK]);
      if (this.client !== client || rows[0]?.mine !== true) return;
      this.leads = true;
      this.leadsTaken++;
      this.logger.info('this replica leads');
    } catch (error) {
      this.lost(client, error);
    }
  }

  private async connected(): Promise<pg.Client | undefined> {
    const client = newClient({
      url: this.config.databaseListenUrl ?? this.config.databaseUrl,
      name: 'countersign leader',
      session: { ...SESSION, ...KEEPALIVES },
      answerTimeoutMs: ANSWER_TIMEOUT_MS,
    });
    client.on('error', (error) => this.lost(client, error));
    client.on('end', () => this.lost(client));
    try {
      await client.connect();
    } catch (error) {
      this.lost(client, error);
      return undefined;
    }
    this.client = client;
    return client;
  }

  private lost(client: pg.Client, error?: unknown): void {
    if (this.client === client) {
      this.client = undefined;
      if (this.leads && !this.stopping) this.logger.warn({ err: error }, 'this replica no longer leads: its connection is gone');
      this.leads = false;
    }
    client.removeAllListeners('error').on('error', () => undefined);
    void client.end().catch(() => undefined);
  }

  private statementsOn(client: pg.Client): RunStatement {
    return async (sql, parameters) => {
      try {
        return (await client.query<Record<string, unknown>>(sql, [...parameters])).rows;
      } catch (error) {
        // What the database did not say itself is silence: nobody knows what became of the statement, nor of the lock.
        if (!(error instanceof pg.DatabaseError)) this.lost(client, error);
        throw error;
      }
    };
  }

  private async inLine<Result>(work: (client: pg.Client) => Promise<Result>): Promise<Result> {
    this.waiting++;
    const next = this.line.then(async () => {
      const client = this.client;
      if (client === undefined || !this.isLeader) throw new NotLeading();
      return work(client);
    });
    this.line = next.catch(() => undefined);
    try {
      return await next;
    } finally {
      this.waiting--;
    }
  }
}
