import { Injectable } from '@nestjs/common';
import { isIP } from 'node:net';
import { ANSWER, EFFECT } from '../../../domain/audit/erasure/erase-json-parts.js';
import type { JsonObject } from '../../../domain/json.js';
import type { Tx } from '../../database/transaction/tx.js';
import { canonicalAddress } from '../../http/request/address/client-address.js';
import { addressSubject } from '../../rate-limit/subjects.js';
import { type ErasedSoFar, type ErasureTarget, type PersonalData, PersonalDataHolders } from './personal-data-holders.js';
import { type Erasable, PersonalRows } from './personal-rows.store.js';
import { classesOf, code, digest, id, partly } from './personal-table.js';

const TABLES: readonly Erasable[] = [
  {
    kind: 'effects', from: 'outbox', key: { id: 'bigint' },
    columns: { organization_id: id, kind: code, payload: partly(EFFECT) },
    extraColumns: { kind: 't.kind' },
    // Their payloads hold ids alone, or are sealed: erased ones would lose what is to be done.
    erasability: ({ kind }) => (kind === 'execution.run' || kind === 'provider-account.delete' ? 'elsewhere' : undefined),
  },
  {
    kind: 'answers', from: 'idempotency_keys', key: { scope: 'text' },
    columns: { organization_id: id, scope: digest, fingerprint: digest, execution_id: id, body: partly(ANSWER, 'canonical') },
  },
];

/** Personal data in the platform's own tables: effects that wait, answers that are kept, and counted calls. */
@Injectable()
export class PlatformPersonalData implements PersonalData {
  readonly name = 'platform';
  readonly tables = {
    ...classesOf(TABLES), rate_quotas: { subject: 'personal' }, server_heartbeats: { version: 'code', room: 'code' },
  } as const;

  constructor(
    holders: PersonalDataHolders,
    private readonly rows: PersonalRows,
  ) {
    holders.register(this);
  }

  /** No row names its person: answers are kept under a digest, for a day, and effects name ids. */
  async *about(): AsyncGenerator<JsonObject> {
    yield await Promise.resolve({});
  }

  async erase(tx: Tx, what: ErasureTarget, limit: number, after?: string): Promise<ErasedSoFar> {
    const calls = after === undefined ? await this.forgetCalls(tx, what.texts) : 0;
    const { counts, next } = await this.rows.erase(tx, TABLES, what, limit, after);
    return { counts: calls === 0 ? counts : { ...counts, calls }, ...(next === undefined ? {} : { next }) };
  }

  /** Calls of an erased address are counted anew: the old count would expire within minutes anyway. */
  private async forgetCalls(tx: Tx, texts: readonly string[]): Promise<number> {
    const addresses = texts.filter((text) => isIP(text) !== 0).map((text) => addressSubject(canonicalAddress(text)));
    if (addresses.length === 0) return 0;
    return (await tx.query('delete from rate_quotas where subject = any ($1) returning subject', [addresses])).length;
  }
}
