import { setTimeout as pause } from 'node:timers/promises';
import { Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { Logger } from 'pino';
import { getOrInsert } from '../../../domain/collections.js';
import { signingKey } from '../../../domain/audit/notes/note.js';
import type { ExportLine } from '../../../domain/audit/export/export-lines.js';
import type { ExportSource } from '../../../domain/audit/export/export-source.js';
import type { Tally } from '../../../domain/audit/export/person-lines.js';
import { sealed } from '../../../domain/audit/export/sealed-export.js';
import { presentedCredentials } from '../../../platform/auth/credentials/bearer.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { LOGGER } from '../../../platform/logging/token.js';
import { WaitingCallers } from '../../../platform/wake/waiting-callers.js';
import { Waiters } from '../../../platform/wake/waiters.js';
import { announce, send } from './download.js';
import { formatOf, type FileFormat } from './export.dto.js';
import { sqlExportSource } from './export-source.query.js';
import { openSnapshot, type LogSnapshot } from '../query/snapshots.query.js';

/** How many exports a server makes at a time, and for one caller: each has a connection, and a snapshot that the database keeps. */
const AT_ONCE = 4;
const OF_ONE_CALLER = 2;
const RETRY_SECONDS = 30;
/** How long a caller waits for a slot: most files are made in less. */
const PATIENCE_MS = 5_000;
const LOOK_EVERY_MS = 50;

export interface Prepared {
  readonly name: string;
  readonly tally: Tally;
  lines(madeAt: string): AsyncIterable<ExportLine>;
}

/** Who asks, and what for. */
export interface ExportCall {
  readonly request: Request;
  readonly response: Response;
  readonly caller: Caller;
  readonly format: FileFormat;
}

/** Where files are made: a few at a time, each from a snapshot of its own, for as long as its reader may read. */
@Injectable()
export class ExportsService {
  /** By caller. */
  private readonly open = new Map<string, Set<AbortController>>();

  constructor(
    @Inject(CONFIG) private readonly config: CompleteConfig,
    @Inject(LOGGER) private readonly logger: Logger,
    private readonly callers: WaitingCallers,
    private readonly waiters: Waiters,
  ) {
    waiters.atRelease(() => this.all().forEach((one) => one.abort(new Error('the server is about to end'))));
  }

  /**
   * Makes a file and sends it. The snapshot stands before anything is recorded, so that the file does not end with its own record,
   * which no checkpoint covers yet.
   *
   * @param prepare decides what goes into the file and records that it was asked for; nothing is sent before it is done
   * @throws Problem UNAVAILABLE, RATE_LIMITED, and whatever `prepare` throws
   */
  async serve(call: ExportCall, prepare: (source: ExportSource, snapshot: LogSnapshot) => Promise<Prepared>): Promise<void> {
    const { request, response, caller, format } = call;
    if (request.method === 'HEAD') {
      // Says what there would be; nothing is shown, so nothing is recorded.
      announce(request, response, { name: 'countersign-export', format });
      return void response.end();
    }
    const { cut, giveBack } = await this.take(caller);
    if (response.closed) return giveBack();
    const onLost = () => cut.abort(new Error('the credential does not hold any more'));
    const registration = this.callers.register(caller, onLost, presentedCredentials(request));
    let snapshot: LogSnapshot | undefined;
    try {
      snapshot = await openSnapshot(this.config.databaseUrl, 'countersign export');
      const source = await sqlExportSource(snapshot.run, this.config.auditSigningKey);
      const { name, tally, lines } = await prepare(source, snapshot);
      if (response.closed || cut.signal.aborted) return void response.destroy();
      const key = signingKey(source.instance, this.config.auditSigningKey);
      const texts = sealed(lines(new Date().toISOString()), key, formatOf(format).text, tally);
      announce(request, response, { name, format });
      await send(response, texts, { name, format, signal: cut.signal });
    } catch (error) {
      if (!response.headersSent && !response.closed) throw error;
      response.destroy();
      if (!isGone(error)) this.logger.warn({ err: error, actorId: caller.actorId }, 'an export was not sent to its end');
    } finally {
      await snapshot?.close();
      registration.release();
      giveBack();
    }
  }

  private async take({ actorId }: Caller): Promise<{ cut: AbortController; giveBack: () => void }> {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      if (this.waiters.isClosing) throw new Problem('UNAVAILABLE', 'The server is about to end.');
      const refusal = this.whyNot(actorId);
      if (!refusal) break;
      if (performance.now() >= deadline) throw refusal;
      await pause(LOOK_EVERY_MS);
    }
    const cut = new AbortController();
    const own = getOrInsert(this.open, actorId, () => new Set<AbortController>()).add(cut);
    const giveBack = () => {
      own.delete(cut);
      if (own.size === 0) this.open.delete(actorId);
    };
    return { cut, giveBack };
  }

  private whyNot(actorId: string): Problem | undefined {
    const headers = { 'Retry-After': String(RETRY_SECONDS) };
    const own = this.open.get(actorId)?.size ?? 0;
    if (own >= OF_ONE_CALLER) {
      return new Problem('RATE_LIMITED', `You have ${own} exports under way here. Let one end first.`, { headers });
    }
    if (this.all().length < AT_ONCE) return undefined;
    return new Problem('UNAVAILABLE', 'As many exports are under way here as may be. Try again in a moment.', { headers });
  }

  private all(): AbortController[] {
    return [...this.open.values()].flatMap((own) => [...own]);
  }
}

/** Whoever leaves in the middle of a file has done nothing that an operator must know of. */
function isGone(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET' || code === 'EPIPE';
}
