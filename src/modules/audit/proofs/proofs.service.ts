import { Inject, Injectable } from '@nestjs/common';
import { PLATFORM_TREE } from '../../../domain/audit/notes/checkpoint.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { StatementsOnPool } from '../../../platform/database/statements/statements-on-pool.js';
import { pageFrom, pageRequest, type PageQuery } from '../../../platform/http/fields/pagination.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { AuditQuery, onlyOf } from '../query/audit.query.js';
import { checkpointsBelow, instanceName, verifierKeys } from '../checkpoints/checkpoint.query.js';
import { entryProof } from './proof.query.js';
import { presentCheckpoint, presentProof, type CheckpointListReply, type KeysReply, type ProofReply } from './proofs.dto.js';

const DEFAULT_LIMIT = 50;

/** Shows what the signed trees vouch for. */
@Injectable()
export class ProofsService {
  constructor(
    private readonly log: AuditQuery,
    private readonly statements: StatementsOnPool,
    @Inject(CONFIG) private readonly config: CompleteConfig,
  ) {}

  /** @throws Problem NOT_FOUND; CONFLICT while no checkpoint covers the entry, and where the stored trees do not lead to it */
  async proof(caller: Caller, id: string): Promise<ProofReply> {
    const entry = await this.log.find(caller.scope, id, onlyOf('audit.proof', caller));
    if (!entry) throw new Problem('NOT_FOUND', 'There is no such entry.');
    const proof = await this.log.reading(caller.scope, (run) => entryProof(run, entry)).catch(unproven);
    if (proof) return presentProof(entry, proof);
    const seconds = this.config.auditCheckpointSeconds;
    throw new Problem('CONFLICT', `No checkpoint covers this entry yet. Ask again in ${seconds} s.`, {
      headers: { 'Retry-After': String(seconds) },
    });
  }

  async checkpoints(query: PageQuery): Promise<CheckpointListReply> {
    const run = this.statements.run;
    const { limit, offset, after } = pageRequest(query, DEFAULT_LIMIT);
    const size = after && (/^\d{1,15}$/.test(after[0]!) ? Number(after[0]) : 0);
    const [instance, found] = await Promise.all([
      instanceName(run),
      checkpointsBelow(run, PLATFORM_TREE, { limit: limit + 1, offset, ...(size === undefined ? {} : { size }) }),
    ]);
    const { rows, nextCursor } = pageFrom(found, 0, limit, (one) => [String(one.size)]);
    return { checkpoints: rows.map((one) => presentCheckpoint(instance, one)), ...(nextCursor === undefined ? {} : { nextCursor }) };
  }

  async keys(): Promise<KeysReply> {
    const keys = await verifierKeys(this.statements.run);
    return { keys: keys.toReversed().map(({ key }) => key) };
  }
}

/** @throws Problem CONFLICT for trees that somebody has changed; whatever else it is given */
function unproven(error: unknown): never {
  if (!(error instanceof RangeError)) throw error;
  throw new Problem('CONFLICT', 'The trees in the database do not lead from this entry to the newest checkpoint. Verify the log.');
}
