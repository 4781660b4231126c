import { append, type MemoryLog } from './memory-log.js';
import { agentChain, organizationChain } from '../../../src/domain/audit/entry/chain.js';
import type { RecordedEvent, Stamp } from '../../../src/domain/audit/entry/prepare-entry.js';

const ORGANIZATIONS = ['org_a', 'org_b'];
export const AGENTS = ['agt_1', 'agt_2', 'agt_3'];

export type Line = { agent: number; kind: number; text: string; amount: number; address: boolean };

function eventOf({ agent, kind, text, amount }: Line, n: number): RecordedEvent {
  const organization = ORGANIZATIONS[agent % 2]!;
  const name = AGENTS[agent];
  if (name === undefined) return { chain: organizationChain(organization), type: 'auth.login', metadata: { method: 'password' } };
  const place = { chain: agentChain(organization, name), agentId: name };
  const input = { to: text, amount, [text]: [text, null] };
  switch (kind) {
    case 0:
      return { ...place, type: 'agent.updated', metadata: { name: text, metadata: input } };
    case 1:
      return {
        ...place,
        type: 'execution.started',
        capability: 'email.send',
        metadata: { executionId: `exec_${n}`, definition: 'd', input, reasons: [{ rule: 'grant', detail: text }] },
      };
    case 2:
      return { ...place, type: 'hitl.rejected', capability: 'email.send', metadata: { hitlId: `hitl_${n}`, comment: text } };
    default:
      return { ...place, type: 'agent.activated', metadata: { epoch: n } };
  }
}

export function logOf(lines: readonly Line[]): MemoryLog {
  const log: MemoryLog = { entries: [], heads: [], leaves: [] };
  for (const [n, one] of lines.entries()) append(log, eventOf(one, n), stamp(n, one.address));
  return log;
}

export function stamp(n: number, address = false): Stamp {
  return {
    id: `audit_${n}`,
    actorId: n % 2 ? 'root' : 'usr_ada',
    timestamp: new Date(1_795_000_000_000 + n),
    origin: { via: 'rest', requestId: 'request-1', ...(address ? { address: '203.0.113.7' } : {}) },
  };
}
