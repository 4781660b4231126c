import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import { asService } from '../../../../platform/auth/access/call-context.js';
import { isPassing } from '../../../../platform/http/reply/failure.js';
import { LOGGER } from '../../../../platform/logging/token.js';
import { ProviderClient } from '../../ports/provider-client.js';
import { RenewalSignal } from '../../ports/renewal-signal.js';
import type { SessionRef } from '../../ports/sessions.js';
import { CircuitBreaker } from '../../../../platform/outbound/circuit-breaker.js';
import { RenewSessionService } from './renew-session.service.js';

/** Asked at once, by each replica: however many sessions are due, the provider is not stormed. */
const AT_ONCE = 4;
/** Those beyond ring again when they are used next. */
const MOST_WAITING = 10_000;

/** Renews sessions as they are used, behind the calls that use them: nobody waits for the provider, and nobody is sent away by it. */
@Injectable()
export class RenewalsService implements BeforeApplicationShutdown {
  private readonly breaker = new CircuitBreaker();
  private readonly waiting = new Map<string, SessionRef>();
  private readonly running = new Map<string, Promise<void>>();
  private stopping = false;

  constructor(
    private readonly sessions: RenewSessionService,
    provider: ProviderClient,
    signal: RenewalSignal,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    if (provider.issuer !== undefined) signal.listen((session) => this.take(session));
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    this.waiting.clear();
    await Promise.all(this.running.values());
  }

  private take({ organizationId, id }: SessionRef): void {
    if (this.stopping || this.breaker.isOpen || this.running.has(id) || this.waiting.size >= MOST_WAITING) return;
    this.waiting.set(id, { organizationId, id });
    this.fill();
  }

  private fill(): void {
    for (const [id, ref] of this.waiting) {
      if (this.running.size >= AT_ONCE) return;
      if (!this.breaker.enter()) return this.waiting.clear();
      this.waiting.delete(id);
      this.running.set(id, this.renew(ref).finally(() => {
        this.running.delete(id);
        this.fill();
      }));
    }
  }

  private async renew(ref: SessionRef): Promise<void> {
    try {
      const outcome = await asService('worker', () => this.sessions.renew(ref));
      if (outcome === 'failed') this.breaker.failed();
      else if (outcome === 'answered') this.breaker.succeeded();
      else this.breaker.dropped();
    } catch (error) {
      this.breaker.dropped();
      if (isPassing(error)) return;
      this.logger.error({ err: error, session: ref.id }, 'a session could not be renewed; its next use tries again');
    }
  }
}
