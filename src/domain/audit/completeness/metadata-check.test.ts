import { describe, expect, it } from '@jest/globals';
import type { JsonObject, JsonValue } from '../../json.js';
import { metadataFindings, openCheckedEntry } from './metadata-check.js';

const LONG = 'x'.repeat(100_000);

function opened(event: string, metadata: JsonObject) {
  const payload = JSON.stringify({ metadata });
  return openCheckedEntry({
    organizationId: 'org_a', chain: 'agt_1', seq: 1, id: 'audit_1', event, agentId: 'agt_1', actorId: 'root', capability: 'web.search',
    outcome: null, timestamp: '2026-01-01T00:00:00.000Z', payload, disclosures: '[]', prevHash: null, hash: '',
  }, false)!;
}

const ASKED = { executionId: 'exec_1', hitlId: 'hitl_1', hitlMode: 'propose', level: 0, digest: 'd', definition: 'f', grantId: 'grt_1',
  expiresAt: '2026-01-01T01:00:00.000Z', input: {} };

describe('what is longer than any server writes is odd, and nobody keeps it', () => {
  it.each<[string, string, JsonValue]>([
    ...['executionId', 'hitlId', 'hitlMode', 'digest', 'definition', 'grantId', 'expiresAt', 'level']
      .map((name): [string, string, JsonValue] => ['hitl.created', name, LONG]),
    ['execution.blocked', 'reason', LONG],
    ['hitl.escalated', 'escalatedTo', LONG],
    ['auth.agent_jwt_issued', 'capabilities', Array.from({ length: 5_000 }, () => 'web.search')],
  ])('%s, its %s', (event, name, value) => {
    const entry = opened(event, { ...ASKED, [name]: value });
    expect(entry.metadata[name]).toBeNull();
    expect(metadataFindings(entry)).toContain(name);
  });

  it('but what stands beside it is read as ever, and so is what is long as people write', () => {
    const { metadata } = opened('hitl.created', { ...ASKED, digest: LONG });
    expect(metadata).toEqual({ ...ASKED, digest: null });
    const reason = 'r'.repeat(8_000);
    expect(opened('execution.blocked', { ...ASKED, reason }).metadata['reason']).toBe(reason);
  });

  it('and committed values are as long as callers send them', () => {
    expect(opened('hitl.created', { ...ASKED, input: { text: LONG } }).metadata['input']).toEqual({ text: LONG });
  });
});
