import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Piscina } from 'piscina';
import { scanCall, type CallToScan, type ScannedCall } from '../../../domain/pii/scan-call.js';

/** Longer bodies, in UTF-16 units, are scanned in a thread: a shorter one never holds the event loop for 20 ms. */
const INLINE_MAX = 64 * 1024;
/** A body of 4 MiB takes a fraction of a second; what takes longer has met a fault. */
const TIMEOUT_MS = 10_000;
/** Both cores of a small machine. */
const THREADS = 2;
/** Waiting calls hold their bodies in memory: 64 of 4 MiB are 256 MiB. */
const QUEUE = 64;
const IDLE_MS = 30_000;
/** Some times what a body of 4 MiB takes. */
const LIMITS = { maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 64 };

/** The scan has not come to its end: an error, a thread that was lost, no thread free, or time over. Nothing may be sent. */
export class ScanFailed extends Error {}

/** Scans calls: short ones at once, long ones in threads, which are started when the first long one comes. */
@Injectable()
export class PiiScanner implements OnModuleDestroy {
  private threads: Piscina | undefined;

  /**
   * @param timeoutMs how long a thread may take, the waiting for one included
   * @throws ScanFailed where it is not known what the call holds: the caller must not send it
   */
  async scan(call: CallToScan, timeoutMs = TIMEOUT_MS): Promise<ScannedCall> {
    try {
      if (call.body.length <= INLINE_MAX) return scanCall(call);
      this.threads ??= startThreads();
      return (await this.threads.run(call, { name: 'scan', signal: AbortSignal.timeout(timeoutMs) })) as ScannedCall;
    } catch (error) {
      // The message might quote the body: its name alone says what went wrong.
      throw new ScanFailed(`the scan has failed: ${error instanceof Error ? error.name : 'unknown'}`);
    }
  }

  async onModuleDestroy(): Promise<void> {
    await this.threads?.destroy();
  }
}

function startThreads(): Piscina {
  return new Piscina({
    filename: new URL('./scan-thread.js', import.meta.url).href,
    minThreads: 0, maxThreads: THREADS, maxQueue: QUEUE, idleTimeout: IDLE_MS, concurrentTasksPerWorker: 1, resourceLimits: LIMITS,
  });
}
