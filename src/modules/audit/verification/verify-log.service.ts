import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { isId } from '../../../domain/ids.js';
import type { RunStatement } from '../../../platform/auth/credentials/credential-source.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import type { Scope } from '../../../platform/auth/access/scope.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { Verification } from './verification-result.js';
import { type Begun, SharedVerifications } from './superseded/shared-verifications.store.js';
import { type GiveBack, type House, noPlace, VerificationPlaces } from './superseded/verification-places.js';
import { VerifiedParts } from './superseded/verified-parts.store.js';
import { VerificationRateLimit } from './verification-rate-limit.store.js';

/** Reads and judges the log of this installation. */
export abstract class LogVerifier {
  abstract verify(scope: Scope, agentId: string | undefined, onProgress: (entries: number) => void): Promise<Verification>;
}

const LOOK_EVERY_MS = 300;
const TELL_EVERY_MS = 3_000;

/** What is asked, by whom. */
interface Asked {
  readonly scope: Scope;
  readonly agentId: string | undefined;
  readonly credential: string;
  readonly house: House;
}

/**
 * Verifies the log on request. Whoever asks while the same part of the log is being verified, here or on another replica, gets that
 * answer, and has not used their turn; only what begins takes one.
 */
@Injectable()
export class VerifyLogService {
  /** What runs here, or is waited for here; undefined is the outcome of one that has gone with its replica. */
  private readonly running = new Map<string, Promise<Verification | undefined>>();
  /** Tells this process's verifications from those of other replicas. */
  private readonly name = randomUUID();
  private readonly places = new VerificationPlaces();
  /** Where traces of agents without a chain are searched, which reads much. */
  private readonly searches = new VerificationPlaces();

  constructor(
    private readonly verifier: LogVerifier,
    private readonly turns: VerificationRateLimit,
    private readonly shared: SharedVerifications,
    private readonly parts: VerifiedParts,
  ) {}

  /**
   * @throws Problem RATE_LIMITED for another one within a minute of the last; NOT_FOUND for an agent without any entry; UNAVAILABLE while
   * as many run here as may
   */
  async verify(caller: Caller, agentId: string | undefined): Promise<Verification> {
    if (agentId !== undefined && !isId('agt', agentId)) throw new Problem('NOT_FOUND', 'There is no such agent.');
    const { scope } = caller;
    const house = await this.parts.houseOf(scope);
    if (agentId !== undefined) await this.assertTold(scope, agentId, house);
    const outcome = await this.outcomeOf({ scope, agentId, credential: credentialOf(caller), house });
    if (isOfNothing(outcome, agentId)) throw notHere();
    return outcome;
  }

  /** Before any place or turn is taken. An agent of which all is gone but what a tree remembers is told of. */
  private async assertTold(scope: Scope, agentId: string, house: House): Promise<void> {
    if (await this.parts.hasChain(scope, agentId)) return;
    const place = await this.searches.wait(house);
    try {
      if (!(await this.parts.hasTrace(scope, agentId))) throw notHere();
    } finally {
      place?.();
    }
  }

  /** Of the one that runs, here or on another replica; else begins one. Takes over from a replica that is gone. */
  private async outcomeOf(asked: Asked): Promise<Verification> {
    const { scope, agentId } = asked;
    const key = createHash('sha256').update(JSON.stringify([scope.organizations, agentId ?? null])).digest('hex');
    const since = Date.now();
    for (;;) {
      const outcome = (await this.running.get(key)) ?? (await this.begin(key, asked, since));
      if (outcome) return outcome;
    }
  }

  private async begin(
    key: string, asked: Asked, since: number, place = this.places.take(asked.house),
  ): Promise<Verification | undefined> {
    let begun: Begun;
    try {
      begun = await this.shared.begin(key, this.name, (run) => this.takeTurn(asked, place, run));
      if (begun === 'ours') return await this.keep(key, this.run(key, asked));
    } finally {
      place?.();
    }
    if ('begunAt' in begun) return this.running.get(key) ?? this.keep(key, this.await(key, begun.begunAt, asked, since));
    if (place) throw begun.refused;
    const another = await this.places.wait(asked.house, () => !this.running.has(key));
    return another && this.begin(key, asked, since, another);
  }

  /** In a place of this server only: else another replica may still begin it, and no turn is taken. */
  private async takeTurn({ credential }: Asked, place: GiveBack | undefined, run: RunStatement): Promise<Problem | undefined> {
    if (!place) return noPlace();
    const inSeconds = await this.turns.take(credential, run);
    return inSeconds > 0 ? tooSoon(inSeconds) : undefined;
  }

  /** For whoever asks here meanwhile. */
  private keep(key: string, run: Promise<Verification | undefined>): Promise<Verification | undefined> {
    const kept = run.finally(() => {
      if (this.running.get(key) === kept) this.running.delete(key);
    });
    this.running.set(key, kept);
    // Whoever waits for a place to begin the same needs none now.
    this.places.offer();
    return kept;
  }

  /** What another replica finds. @returns undefined when it has gone without a word */
  private async await(key: string, begunAt: string, asked: Asked, since: number): Promise<Verification | undefined> {
    for (;;) {
      const state = await this.shared.look(key, begunAt, since);
      if (state === 'gone') return undefined;
      // Somebody has told it who is none of us.
      if (state === 'doubtful') return this.verifyAlone(asked);
      if ('outcome' in state) return state.outcome;
      await delay(LOOK_EVERY_MS);
    }
  }

  private async verifyAlone({ scope, agentId, house }: Asked): Promise<Verification> {
    const place = await this.places.wait(house);
    try {
      return await this.verifier.verify(scope, agentId, () => undefined);
    } finally {
      place?.();
    }
  }

  private async run(key: string, { scope, agentId, credential }: Asked): Promise<Verification> {
    let read = 0;
    const telling = setInterval(() => void this.shared.tell(key, this.name, read).catch(() => undefined), TELL_EVERY_MS).unref();
    let outcome: Verification | undefined;
    try {
      outcome = await this.verifier.verify(scope, agentId, (entries) => (read = entries));
      return outcome;
    } finally {
      clearInterval(telling);
      // First: whoever waits for this one begins the next in its turn.
      if (!outcome || isOfNothing(outcome, agentId)) await this.turns.giveBack(credential).catch(() => undefined);
      // Should this fail, others take the silence for what it is and begin anew.
      await this.shared.end(key, this.name, outcome).catch(() => undefined);
    }
  }
}

/** That of an agent all is gone is something, and is told. */
function isOfNothing({ chains, breaksFound }: Verification, agentId: string | undefined): boolean {
  return agentId !== undefined && chains === 0 && breaksFound === 0;
}

function notHere(): Problem {
  return new Problem('NOT_FOUND', 'No entry of this agent is here.');
}

function tooSoon(seconds: number): Problem {
  return new Problem('RATE_LIMITED', `The log is verified once a minute for each credential. Ask again in ${seconds} s.`, {
    headers: { 'Retry-After': String(seconds) },
  });
}

function credentialOf({ principal, actorId }: Caller): string {
  // A hash of the stored hash: the table names no credential.
  const text = principal.kind === 'root' ? `root ${principal.keyHash}` : `${principal.kind} ${actorId}`;
  return createHash('sha256').update(text).digest('hex');
}
