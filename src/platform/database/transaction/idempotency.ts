import { createHmac, timingSafeEqual } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import type { QueryRunner } from 'typeorm';
import { jcs } from '../../../domain/audit/entry/jcs.js';
import { PLATFORM_ORGANIZATION } from '../../../domain/audit/entry/chain.js';
import type { JsonValue } from '../../../domain/json.js';
import type { Caller } from '../../auth/access/principal.js';
import { CONFIG, type CompleteConfig } from '../../config/config.js';
import { Problem } from '../../http/reply/problem.js';
import { firstMarkKey } from '../../secrets/sealed-box.js';

/** A claimed key: where its record stands, and what the call that first used it looked like. */
export interface IdempotencyClaim {
  organizationId: string;
  scope: string;
  fingerprint: string;
}

/** The answer of the call as its record keeps it: secrets are null there, for they are shown once. */
export interface KeptAnswer {
  status: number;
  body: unknown;
}

/** Ends a unit of work early: this call has been answered before, and this was the answer. */
export class Replayed extends Error {
  constructor(readonly answer: KeptAnswer) {
    super('replayed');
  }
}

const FORM = /^[\x21-\x7e]{1,255}$/;

/**
 * Idempotency keys (the de-facto Idempotency-Key header). The record commits with the effect, so a retry after a lost
 * answer finds it. Scope: organization, principal, operation, path parameters and key. Scope and fingerprint are HMACs,
 * so the table says nothing about keys or bodies.
 */
@Injectable()
export class IdempotencyKeys {
  private readonly secret: Buffer;

  constructor(@Inject(CONFIG) config: Pick<CompleteConfig, 'encryptionKey' | 'markKey'>) {
    this.secret = createHmac('sha256', config.markKey ?? firstMarkKey(config.encryptionKey)).update('countersign idempotency v1').digest();
  }

  /** @throws Problem VALIDATION_FAILED when the header is not 1 to 255 visible ASCII characters */
  claimFor(caller: Caller, key: string, operation: string, parameters: Record<string, string>, body: JsonValue): IdempotencyClaim {
    if (!FORM.test(key)) {
      throw new Problem('VALIDATION_FAILED', 'The Idempotency-Key header must have 1 to 255 visible ASCII characters.');
    }
    const organizationId = caller.scope.organizations === 'all' ? PLATFORM_ORGANIZATION : caller.scope.organizations[0]!;
    return {
      organizationId,
      scope: this.mac([organizationId, caller.principal.kind, caller.actorId, operation, parameters, key]),
      fingerprint: this.mac(body),
    };
  }

  /**
   * Takes the key for this transaction.
   *
   * @returns the answer, when it was answered before
   * @throws Problem IDEMPOTENCY_IN_FLIGHT, IDEMPOTENCY_KEY_REUSED
   */
  async claim(runner: QueryRunner, claim: IdempotencyClaim): Promise<KeptAnswer | undefined> {
    const [lock] = (await runner.query('select pg_try_advisory_xact_lock(hashtextextended($1, 4712)) as taken', [claim.scope])) as [
      { taken: boolean },
    ];
    if (!lock.taken) {
      throw new Problem('IDEMPOTENCY_IN_FLIGHT', 'Wait for the first call with this key to end, then ask again.', {
        headers: { 'Retry-After': '1' },
      });
    }
    const [kept] = (await runner.query(
      'select fingerprint, status, body from idempotency_keys where organization_id = $1 and scope = $2',
      [claim.organizationId, claim.scope],
    )) as { fingerprint: string; status: number; body: string | null }[];
    if (!kept) return undefined;
    assertSameBody(claim.fingerprint, kept.fingerprint);
    return { status: kept.status, body: kept.body === null ? undefined : JSON.parse(kept.body) };
  }

  async keep(runner: QueryRunner, claim: IdempotencyClaim, answer: KeptAnswer): Promise<void> {
    await runner.query(
      'insert into idempotency_keys (organization_id, scope, fingerprint, status, body) values ($1, $2, $3, $4, $5)',
      [claim.organizationId, claim.scope, claim.fingerprint, answer.status, answer.body === undefined ? null : JSON.stringify(answer.body)],
    );
  }

  private mac(value: unknown): string {
    return createHmac('sha256', this.secret).update(jcs(value as JsonValue)).digest('base64url');
  }
}

/** @throws Problem IDEMPOTENCY_KEY_REUSED */
export function assertSameBody(fingerprint: string, kept: string): void {
  if (timingSafeEqual(Buffer.from(fingerprint), Buffer.from(kept))) return;
  throw new Problem('IDEMPOTENCY_KEY_REUSED', 'Send the same body as the first time, or use a new key.');
}
