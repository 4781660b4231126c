import { describe, expect, it } from '@jest/globals';
import { append, breaksOf, type MemoryLog } from '../../../../test/support/memory/memory-log.js';
import { agentChain, organizationChain, platformChain } from '../entry/chain.js';
import type { RecordedEvent, Stamp } from '../entry/prepare-entry.js';

const ORGANIZATIONS = ['org_a', 'org_b'];
const AGENTS = ['agt_1', 'agt_2', 'agt_3'];

type Line = { agent: number; kind: number; text: string; amount: number; address: boolean };

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

function logOf(lines: readonly Line[]): MemoryLog {
  const log: MemoryLog = { entries: [], heads: [], leaves: [] };
  for (const [n, one] of lines.entries()) append(log, eventOf(one, n), stamp(n, one.address));
  return log;
}

function stamp(n: number, address = false): Stamp {
  return {
    id: `audit_${n}`,
    actorId: n % 2 ? 'root' : 'usr_ada',
    timestamp: new Date(1_795_000_000_000 + n),
    origin: { via: 'rest', requestId: 'request-1', ...(address ? { address: '203.0.113.7' } : {}) },
  };
}

const kinds = async (log: MemoryLog) => new Set((await breaksOf(log)).map((one) => one.kind));

describe('a transferred agent', () => {
  const plain: Line = { agent: 0, kind: 3, text: '', amount: 0, address: false };
  const out = (): MemoryLog => {
    const log = logOf([plain, plain]);
    const leaving = { type: 'agent.transferred' as const, metadata: { direction: 'out' as const } };
    append(log, { chain: agentChain('org_a', 'agt_1'), agentId: 'agt_1', ...leaving }, stamp(10));
    return log;
  };
  const moved = (fromSeq = 3): MemoryLog => {
    const log = out();
    const left = log.heads[0]!;
    log.heads.push({ ...left, organizationId: 'org_b' });
    const metadata = { direction: 'in' as const, fromSeq, fromHash: left.hash! };
    append(log, { chain: agentChain('org_b', 'agt_1'), agentId: 'agt_1', type: 'agent.transferred', metadata }, stamp(11));
    return log;
  };

  it('keeps its chain across organizations', async () => {
    expect(await breaksOf(moved())).toEqual([]);
    expect(await breaksOf(moved(), 'agt_1')).toEqual([]);
  });

  it.each([['sideways'], ['IN'], [1], [['in']]])('left or arrived, and nothing else: %j', async (direction) => {
    const log = logOf([plain, plain]);
    const where = { chain: agentChain('org_a', 'agt_1'), agentId: 'agt_1' };
    append(log, { ...where, type: 'agent.transferred', metadata: { direction } } as unknown as RecordedEvent, stamp(10));
    const found = await breaksOf(log);
    expect(found).toMatchObject([{ kind: 'inserted', chain: 'agt_1', detail: expect.stringMatching(/is a transfer neither in nor out/) }]);
    expect(await breaksOf(log, 'agt_1')).toEqual(found);
  });

  it('is not registered again where it arrived', async () => {
    const log = moved();
    append(log, {
      chain: agentChain('org_b', 'agt_1'), agentId: 'agt_1', type: 'agent.registered',
      metadata: { name: 'again', riskLevel: 'low' } as never,
    }, stamp(12));
    expect(await kinds(log)).toEqual(new Set(['inserted']));
  });

  it('differs from a chain whose other half is gone, or that claims another place', async () => {
    expect(await kinds(out())).toEqual(new Set(['truncated']));
    expect(await kinds(moved(7))).toContain('inserted');
    const orphan = moved();
    orphan.entries = orphan.entries.filter((entry) => entry.organizationId === 'org_b');
    orphan.leaves = orphan.leaves.filter((leaf) => leaf.organizationId === 'org_b');
    orphan.heads = orphan.heads.filter((head) => head.organizationId === 'org_b');
    expect(await kinds(orphan)).toEqual(new Set(['inserted']));
  });
});

it('the platform is an organization like the others', async () => {
  const log: MemoryLog = { entries: [], heads: [], leaves: [] };
  append(log, { chain: platformChain(), type: 'admin.key_rotated', metadata: {} }, stamp(1));
  expect(await breaksOf(log)).toEqual([]);
});
