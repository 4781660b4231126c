import { Injectable } from '@nestjs/common';
import type { PresentedCredentials } from '../auth/credentials/bearer.js';
import { CallerCheck } from '../auth/credentials/caller-check.js';
import type { Caller } from '../auth/access/principal.js';
import { Problem } from '../http/reply/problem.js';
import { Semaphore } from './semaphore.js';

/** How often the credential of a waiting caller is checked again. */
const CHECK_EVERY_MS = 15_000;
const CHECKS_AT_ONCE = 4;

/** A caller whose answer is delayed, or who reads a stream. */
export interface WaitingCaller {
  /** The refusal of the credential, once a check has found that it ended. */
  readonly lost: Problem | undefined;
  /** Checks the credential now. @throws Problem UNAUTHENTICATED, AGENT_INACTIVE */
  assertHolds(): Promise<void>;
  release(): void;
}

interface Member {
  lost: Problem | undefined;
  readonly onLost: () => void;
}

/**
 * Checks periodically whether waiting callers may still be answered. Callers with the same credential share one check, so that
 * thousands of waiters do not make thousands of queries.
 */
@Injectable()
export class WaitingCallers {
  private readonly groups = new Map<string, Group>();
  private readonly checks = new Semaphore(CHECKS_AT_ONCE);
  private ticking: NodeJS.Timeout | undefined;

  constructor(private readonly callers: CallerCheck) {}

  /**
   * @param onLost called when a check finds that the credential ended
   * @param shown for event streams: the presented credential is authenticated anew, so that its scope is compared too
   */
  register(caller: Caller, onLost: () => void, shown?: PresentedCredentials): WaitingCaller {
    const key = JSON.stringify([shown !== undefined, caller.principal, caller.scope]);
    let group = this.groups.get(key);
    if (!group) {
      const ask = () => (shown ? this.callers.assertReaches(caller, shown) : this.callers.assertHolds(caller));
      group = new Group(() => this.checks.run(ask));
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
      // An unreachable database says nothing about the credential, and there is no news to deliver meanwhile.
      if (!(error instanceof Problem) || error.status >= 500) return;
      for (const member of group.members) {
        member.lost = error;
        member.onLost();
      }
    }
  }
}

/** The waiting callers of one credential. */
class Group {
  readonly members = new Set<Member>();
  private running: Promise<void> | undefined;
  private following: Promise<void> | undefined;

  constructor(private readonly ask: () => Promise<void>) {}

  /** Joins a check that has not begun yet, never a running one: it may have read before the credential was revoked. */
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
