import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { isPassing } from '../../platform/http/reply/failure.js';
import type { Signal } from '../../platform/wake/signal.js';
import { Waiters } from '../../platform/wake/waiters.js';
import type { CutOff, LeftBehind, Runtime, RuntimeCall, RuntimeError, RuntimeReturn } from '../gate/runtimes/runtime.js';
import { NodeWorkQuery } from './node-work.query.js';
import { NodeWorkStore, type WorkKey } from './node-work.store.js';

/** While the news of other servers come in, a wait looks only in case one was missed. */
const LOOK_EVERY_MS = 10_000;
const LOOK_ALONE_EVERY_MS = 500;
const AGAIN_MS = 200;

const NO_NODE: RuntimeError = {
  code: 'NODE_UNREACHABLE', message: 'The agent has no node that was seen within the last minute. Nothing was done.',
};
const NOT_BEGUN: RuntimeError = { code: 'NODE_UNREACHABLE', message: 'No node of the agent began it in time. Nothing was done.' };
const NO_ANSWER: RuntimeError = { code: 'NODE_TIMEOUT', message: 'A node began it, and did not answer in time. It may have been done.' };
const NOT_AGAIN: RuntimeError = { code: 'NODE_TIMEOUT', message: 'A node began it and did not answer, and none took it up again.' };
const CUT_OFF: RuntimeError = { code: 'NODE_UNREACHABLE', message: 'The server ended before a node began it. Nothing was done.' };
const ELSEWHERE: RuntimeReturn = { kind: 'elsewhere' };

/** The topic of news for the nodes of an agent. */
export const nodeTopic = (agentId: string): string => `node-${agentId}`;

/**
 * Queues a call for a node of the agent, and waits, without a connection, until the execution is closed: whichever server gets the node's
 * result closes it in the commit that takes the result. What nobody has started in time is withdrawn, by compare-and-set; what was started
 * is left to its node until the deadline.
 */
@Injectable()
export class NodeRuntime implements Runtime {
  readonly name = 'node';

  constructor(
    private readonly work: NodeWorkStore,
    private readonly query: NodeWorkQuery,
    private readonly waiters: Waiters,
  ) {}

  async run(call: RuntimeCall, signal: AbortSignal): Promise<RuntimeReturn> {
    // Made before the work can be seen, so that no news of it is missed.
    const news = this.waiters.signal(call.executionId);
    try {
      return await this.queued(call, news, signal);
    } finally {
      news.close();
    }
  }

  async withdraw(tx: Tx, { organizationId, id: executionId, fence: executionFence }: CutOff): Promise<LeftBehind> {
    const work = await this.work.read(tx, { organizationId, executionId });
    if (work?.status === 'withdrawn' && work.yields) return { kind: 'unknown' };
    const isTaken = work?.status === 'started' || work?.status === 'answered';
    if (work !== undefined && !isTaken) await this.work.withdrawWithin(tx, work);
    // Of a later beginning nobody knows what the nodes of the earlier ones did.
    return isTaken || executionFence > 1 ? { kind: 'had' } : { kind: 'untouched', error: CUT_OFF };
  }

  private async queued(call: RuntimeCall, news: Signal, signal: AbortSignal): Promise<RuntimeReturn> {
    const key: WorkKey = { organizationId: call.organizationId, executionId: call.executionId, executionFence: call.fence };
    let isQueued = false;
    let mayBeQueued = false;
    for (;;) {
      if (this.waiters.isClosing || signal.aborted) return ELSEWHERE;
      try {
        if (!isQueued) {
          if (call.deadline.left() <= 0) return mayBeQueued ? ELSEWHERE : refused(call, NOT_BEGUN);
          mayBeQueued = true;
          const seconds = call.deadline.left() / 1_000;
          await this.work.queue({ ...key, agentId: call.agentId, seconds, yields: call.beginBy !== undefined });
          isQueued = true;
          this.waiters.wake(nodeTopic(call.agentId));
        }
        const outcome = await this.look(call, key);
        if (typeof outcome !== 'number') return outcome;
        await news.next(Math.min(outcome, this.waiters.hearsOthers ? LOOK_EVERY_MS : LOOK_ALONE_EVERY_MS));
      } catch (error) {
        if (!isPassing(error)) throw error;
        // Whether it was queued, or withdrawn, nobody can tell while the database is away. Recovery finds out.
        if (call.deadline.left() <= 0) return ELSEWHERE;
        await pause(AGAIN_MS);
      }
    }
  }

  /** @returns what came of it, or for how many milliseconds there is nothing to do but wait */
  private async look(call: RuntimeCall, key: WorkKey): Promise<RuntimeReturn | number> {
    const seen = await this.query.find(key);
    if (seen === undefined || seen.execution !== 'running') return ELSEWHERE;
    // Recovery has begun it again, on whichever server.
    if (seen.beginning !== key.executionFence || seen.executionFence !== key.executionFence) return ELSEWHERE;
    if (seen.status === 'withdrawn') return refused(call, NO_NODE);
    if (seen.status === 'started') {
      const left = call.deadline.left();
      if (left > 0) return left;
      // Recovery gives it to a node again, with the same key, or says that nobody knows.
      return bearsRepetition(call) ? ELSEWHERE : { kind: 'unknown', error: NO_ANSWER };
    }
    const left = (call.beginBy ?? call.deadline).left();
    if (left > 0) return left;
    // Somebody may start it at this moment: then this changes nothing, and the next look sees it.
    return (await this.work.withdraw(key)) ? refused(call, NOT_BEGUN) : 0;
  }
}

/** Nothing was done; but of a later beginning nobody knows what the nodes of the earlier ones did. */
function refused({ fence }: RuntimeCall, error: RuntimeError): RuntimeReturn {
  return fence === 1 ? { kind: 'unreachable', error } : { kind: 'unknown', error: NOT_AGAIN };
}

function bearsRepetition({ connector, hitlRequestId }: RuntimeCall): boolean {
  return connector?.type === 'node' && connector.idempotent && hitlRequestId !== undefined;
}
