import { Injectable } from '@nestjs/common';
import type { PresentedCredentials } from '../auth/credentials/bearer.js';
import { CallerCheck } from '../auth/credentials/caller-check.js';
import type { Caller } from '../auth/access/principal.js';
import { Problem } from '../http/reply/problem.js';
import { Semaphore } from './semaphore.js';

/** How often a held caller's credential is asked for again. */
const CHECK_EVERY_MS = 15_000;
const CHECKS_AT_ONCE = 4;

/** A caller who waits, or reads a stream. */
export interface WaitingCaller {
  /** Why the credential does not hold any more, once that has been found out. */
  readonly lost: Problem | undefined;
  /** Asks now. @throws Problem UNAUTHENTICATED, AGENT_INACTIVE */
  assertHolds(): Promise<void>;
  release(): void;
}

interface Member {
  lost: Problem | undefined;
  readonly onLost: () => void;
}

/**
 * Asks again and again whether those who are held may still be told anything: once for all that came with the same credential,
 * so that thousands who wait do not ask thousands of times.
 */
@Injectable()
export class WaitingCallers {
  private readonly groups = new Map<string, Group>();
  private readonly turns = new Semaphore(CHECKS_AT_ONCE);
  private ticking: NodeJS.Timeout | undefined;

  constructor(private readonly callers: CallerCheck) {}

  /**
   * @param onLost told when the credential turns out not to hold any more
   * @param shown for who stays longer than a held answer: the credential is shown anew, so that what it reaches is compared too
   */
  hold(caller: Caller, onLost: () => void, shown?: PresentedCredentials): WaitingCaller {
    const key = JSON.stringify([shown !== undefined, caller.principal, caller.scope]);
    let group = this.groups.get(key);
    if (!group) {
      const ask = () => (shown ? this.callers.assertReaches(caller, shown) : this.callers.assertHolds(caller));
      group = new Group(() => this.turns.run(ask));
      this.groups.set(key, group);
    }
    const { members } = group;
    const member: Member = { lost: undefined, onLost };
    members.add(member);
    this.ticking ??= setInterval(() => this.checkAll(), CHECK_EVERY_MS).unref();
    return {
      get lost() {
        return member.lost;
      },
      assertHolds: () => group.check(),
      release: () => {
        members.delete(member);
        if (members.size === 0 && this.groups.get(key) === group) this.groups.delete(key);
        if (this.groups.size > 0) return;
        clearInterval(this.ticking);
        this.ticking = undefined;
      },
    };
  }

  private checkAll(): void {
    for (const group of this.groups.values()) void this.checked(group);
  }

  private async checked(group: Group): Promise<void> {
    try {
      await group.check();
    } catch (error) {
      // A database that is away says nothing about anybody, and there is no news while it is.
      if (!(error instanceof Problem) || error.status >= 500) return;
      for (const member of group.members) {
        member.lost = error;
        member.onLost();
      }
    }
  }
}

/** Those who came with one credential. */
class Group {
  readonly members = new Set<Member>();
  private running: Promise<void> | undefined;
  private following: Promise<void> | undefined;

  constructor(private readonly ask: () => Promise<void>) {}

  /** Joins a check that has not begun yet, and never one that has: it may have looked before the credential was taken away. */
  check(): Promise<void> {
    if (!this.running) return this.begin();
    this.following ??= this.running
      .catch(() => undefined)
      .then(() => {
        this.following = undefined;
        return this.begin();
      });
    return this.following;
  }

  private begin(): Promise<void> {
    const run = this.ask().finally(() => {
      if (this.running === run) this.running = undefined;
    });
    this.running = run;
    return run;
  }
}
