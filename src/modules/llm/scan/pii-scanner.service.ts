import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { Piscina } from 'piscina';
import type { JsonValue } from '../../../domain/json.js';
import { readAnswer, type ReadAnswer } from '../../../domain/pii/answers/answer-body.js';
import type { TokenMap } from '../../../domain/pii/answers/tokens.js';
import type { ProviderFamily } from '../../../domain/pii/body/structural-members.js';
import { Work, WorkLimit } from '../../../domain/pii/scan.js';
import { previewText, scanCall, type CallToScan, type ScannedCall, type ScannedText } from '../../../domain/pii/scan-call.js';
import type { PiiSettings } from '../../../domain/pii/settings.js';
import { threadPool } from '../../../platform/threads/thread-pool.js';

/** Longer bodies, in UTF-16 units, are scanned in a thread. */
const INLINE_MAX = 64 * 1024;
/** What takes more work, in units of about a microsecond, is begun again in a thread: the event loop is never held for 20 ms. */
const INLINE_WORK = 5_000;
/** A body of 4 MiB takes a fraction of a second, the worst that was made some seconds; what takes longer has met a fault. */
const TIMEOUT_MS = 20_000;
/** Both cores of a small machine. */
const THREADS = 2;
/** Calls in threads or before them hold their bodies in memory: 64 of 4 MiB are 256 MiB. piscina's own limit lets a first burst through. */
const LONG_CALLS_MAX = 64;
const IDLE_MS = 30_000;
/** Some times what a body of 4 MiB takes. */
const LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 64 };

/** The scan has not come to its end: an error, a thread that was lost, no thread free, or time over. Nothing may be sent. */
export class ScanFailed extends Error {}

/** Scans calls and answers: short ones at once, long ones in threads, which are started when the first long one comes. */
@Injectable()
export class PiiScanner implements OnModuleDestroy {
  private threads: Piscina | undefined;
  private longCalls = 0;

  /**
   * @param timeoutMs how long a thread may take, the waiting for one included
   * @param body what the call's JSON says, where that has been read
   * @throws ScanFailed where it is not known what the call holds: the caller must not send it
   */
  scan(call: CallToScan, timeoutMs = TIMEOUT_MS, body?: JsonValue): Promise<ScannedCall> {
    return this.run('scan', call, call.body.length <= INLINE_MAX && ((work) => scanCall(call, work, body)), timeoutMs);
  }

  /** What the settings would make of one text. @throws ScanFailed */
  preview(text: string, settings: PiiSettings): Promise<ScannedText> {
    return this.run('preview', [text, settings], text.length <= INLINE_MAX && ((work) => previewText(text, settings, work)), TIMEOUT_MS);
  }

  /** Does to a whole answer what the settings say, and gives values back. @throws ScanFailed: the answer must not be handed on */
  readAnswer(body: JsonValue, family: ProviderFamily, settings: PiiSettings, tokens: TokenMap): Promise<ReadAnswer> {
    return this.run('read', [body, family, settings, tokens], (work) => readAnswer(body, family, settings, tokens, work), TIMEOUT_MS);
  }

  async onModuleDestroy(): Promise<void> {
    await this.threads?.destroy();
  }

  private async run<T>(name: string, argument: unknown, atOnce: false | ((work: Work) => T), timeoutMs: number): Promise<T> {
    try {
      if (atOnce) {
        try {
          return atOnce(new Work(INLINE_WORK));
        } catch (error) {
          if (!(error instanceof WorkLimit)) throw error;
        }
      }
      if (this.longCalls >= LONG_CALLS_MAX) throw new RangeError();
      return await this.inThread<T>(name, argument, timeoutMs);
    } catch (error) {
      // The message might quote the body: its name alone says what went wrong.
      throw new ScanFailed(`the scan has failed: ${error instanceof Error ? error.name : 'unknown'}`);
    }
  }

  private async inThread<T>(name: string, argument: unknown, timeoutMs: number): Promise<T> {
    this.threads ??= startThreads();
    this.longCalls++;
    try {
      return (await this.threads.run(argument, { name, signal: AbortSignal.timeout(timeoutMs) })) as T;
    } finally {
      this.longCalls--;
    }
  }
}

function startThreads(): Piscina {
  return threadPool(new URL('./scan-thread.js', import.meta.url), {
    minThreads: 0, maxThreads: THREADS, idleTimeout: IDLE_MS, resourceLimits: LIMITS,
  });
}
