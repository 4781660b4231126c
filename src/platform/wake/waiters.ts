import { EventEmitter } from 'node:events';
import { Inject, Injectable } from '@nestjs/common';
import type { Caller } from '../auth/access/principal.js';
import { CONFIG, type CompleteConfig } from '../config/config.js';
import { requestContext } from '../http/request/request-context.js';
import { Signal } from './signal.js';
import { WaitingCallers } from './waiting-callers.js';
import { WaiterSlots } from './waiter-slots.js';
import { Semaphore } from './semaphore.js';
import { WakeChannel } from './wake-channel.js';

/** While other replicas' notifications arrive, a waiter reads only in case one was missed. */
const LOOK_EVERY_MS = 10_000;
const LOOKS_PER_SECOND = 100;
/** While none arrive, all waiters together read at most LOOKS_PER_SECOND_ALONE times a second. */
const LOOK_ALONE_EVERY_MS = 500;
const LOOKS_PER_SECOND_ALONE = 500;

/** What a wait begins with: a read, or the first notification. */
export type FirstOf = 'a look' | 'news';

/**
 * Delays answers until the awaited resource is final. A waiter keeps no database connection: it reads when a commit wakes it, of this
 * process or (LISTEN/NOTIFY) of another replica. While the notification channel is closed it reads every half second, and less often
 * where thousands wait. A semaphore bounds how many read at once, so that waiters leave connections to other calls.
 */
@Injectable()
export class Waiters {
  private readonly topics = new EventEmitter().setMaxListeners(0);
  private readonly looks: Semaphore;
  private closing = false;
  private readonly onRelease: (() => void)[] = [];

  constructor(
    private readonly callers: WaitingCallers,
    private readonly slots: WaiterSlots,
    private readonly channel: WakeChannel,
    @Inject(CONFIG) { databasePoolSize }: CompleteConfig,
  ) {
    this.looks = new Semaphore(Math.max(1, databasePoolSize >> 1));
    channel.listen(
      (topic) => this.emit(topic),
      () => this.lookSoon(),
    );
  }

  /** Wakes the waiters of a topic on every replica, after a commit of this process. */
  wake(topic: string): void {
    this.emit(topic);
    this.channel.send(topic);
  }

  /** A signal of the topic's commits. A topic that is a prefix of ids (`hitl`) also gets the commits of each such id. */
  signal(topic: string): Signal {
    return new Signal(this.topics, topic);
  }

  /** Whether other replicas' notifications arrive at this moment. */
  get hearsOthers(): boolean {
    return this.channel.isOpen;
  }

  /** Whether the server is about to end: then no answer is delayed. */
  get isClosing(): boolean {
    return this.closing;
  }

  /** @param listener called when the server is about to end and all waiters are released */
  atRelease(listener: () => void): void {
    this.onRelease.push(listener);
  }

  /**
   * Reads until the result is final or the time is over, and returns the last result. Where the client goes before, nothing more is read
   * for it: a read may take something, such as the lease of a node's work.
   *
   * @param seconds how long the answer may be delayed; 0 reads once. A principal's 65th wait at a time is answered at once.
   * @param first 'news' skips the read before the first notification: this process has just begun the awaited work itself
   */
  async until<Seen>(
    topic: string,
    caller: Caller,
    seconds: number,
    read: () => Promise<Seen>,
    isFinal: (seen: Seen) => boolean,
    first: FirstOf = 'a look',
  ): Promise<Seen> {
    const deadline = Date.now() + seconds * 1000;
    const giveBack = seconds === 0 ? undefined : this.slots.take(caller.actorId);
    if (!giveBack) return read();
    // Made before the first read, so that a commit between the read and the wait is not missed.
    const signal = this.signal(topic);
    const waiting = this.callers.register(caller, signal.notify);
    const response = requestContext.getStore()?.response;
    response?.once('close', signal.notify);
    try {
      let seen = first === 'news' ? undefined : await read();
      if (seen !== undefined && isFinal(seen)) return seen;
      while (seen === undefined || !isFinal(seen)) {
        const left = deadline - Date.now();
        if (left <= 0) break;
        await signal.next(Math.min(left, this.pause()));
        if (this.closing) return seen ?? (await read());
        if (response?.destroyed === true) return first === 'news' ? await read() : (seen as Seen);
        if (waiting.lost) throw waiting.lost;
        seen = await this.looks.run(read);
      }
      // A caller whose credential ended during the wait gets a refusal, not the result.
      await waiting.assertHolds();
      return seen ?? (await read());
    } finally {
      signal.close();
      response?.off('close', signal.notify);
      waiting.release();
      giveBack();
    }
  }

  /** Answers all waiters with their last result; from then on no answer is delayed. Called when the server is about to end. */
  release(): void {
    this.closing = true;
    for (const listener of this.onRelease) listener();
    for (const topic of this.topics.eventNames()) this.topics.emit(topic);
  }

  private emit(topic: string): void {
    this.topics.emit(topic);
    const end = topic.indexOf('_');
    if (end > 0) this.topics.emit(topic.slice(0, end));
  }

  /** Wakes all waiters, spread over time: notifications may have been missed. */
  private lookSoon(): void {
    const within = (this.slots.all / LOOKS_PER_SECOND_ALONE) * 1_000;
    for (const topic of this.topics.eventNames()) setTimeout(() => this.topics.emit(topic), Math.random() * within);
  }

  /** Milliseconds until a waiter's next read; random, so that waiters that came together do not read together. */
  private pause(): number {
    const often = this.channel.isOpen ? LOOK_EVERY_MS : LOOK_ALONE_EVERY_MS;
    const together = (this.slots.all / (this.channel.isOpen ? LOOKS_PER_SECOND : LOOKS_PER_SECOND_ALONE)) * 1_000;
    return Math.max(often, together) * (0.75 + Math.random() / 2);
  }
}
