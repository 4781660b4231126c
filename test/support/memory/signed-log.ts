import { append, checkpoint, sourceOf, type MemoryLog } from './memory-log.js';
import { agentChain, platformChain } from '../../../src/domain/audit/entry/chain.js';
import type { StoredCheckpoint } from '../../../src/domain/audit/notes/checkpoint.js';
import type { Stamp } from '../../../src/domain/audit/entry/prepare-entry.js';
import { signingKey, verifierKey } from '../../../src/domain/audit/notes/note.js';
import { verifyLog, type VerifyOptions } from '../../../src/domain/audit/integrity/verify-log.js';

export const NAME = 'countersign-test';
export const seed = (byte: number) => Buffer.alloc(32, byte).toString('base64');
export const KEY = signingKey(NAME, seed(1));
export const OTHER = signingKey(NAME, seed(2));
export const keyText = (byte: number) => verifierKey(NAME, seed(byte));

let made = 0;
export const stamp = (time = 1_795_000_000_000 + made): Stamp =>
  ({ id: `audit_${++made}`, actorId: 'usr_ada', timestamp: new Date(time), origin: { via: 'rest', requestId: 'request-1' } });

export function write(log: MemoryLog, count: number, organization = 'org_a', agentId = 'agt_1', time?: number): void {
  for (let n = 0; n < count; n++) {
    const input = { to: 'ada@example.org', amount: n };
    append(log, {
      chain: agentChain(organization, agentId), agentId, type: 'execution.started', capability: 'email.send',
      metadata: { executionId: `exec_${n}`, definition: 'd', input, reasons: [] },
    }, stamp(time));
  }
}

/** A signed log of three organizations. */
export async function signed(): Promise<MemoryLog> {
  const log: MemoryLog = { entries: [], heads: [], leaves: [], instance: NAME, keys: [{ key: keyText(1), fromSize: 0 }] };
  append(log, { chain: platformChain(), type: 'admin.signing_key_rotated', metadata: { keyId: keyText(1) } }, stamp());
  write(log, 5);
  await checkpoint(log, KEY);
  write(log, 4, 'org_b', 'agt_2');
  write(log, 3);
  await checkpoint(log, KEY);
  return log;
}

export const found = async (log: MemoryLog, options: VerifyOptions = {}) => {
  const { breaks, uncovered } = await verifyLog(sourceOf(log), options);
  return { breaks: breaks.map(({ chain, kind }) => `${chain} ${kind}`), uncovered };
};
export const newest = (log: MemoryLog, tree: string): StoredCheckpoint =>
  log.trees!.checkpoints.findLast((one) => one.organizationId === tree)!;
