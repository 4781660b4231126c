// Logs in which something lawful has happened: an erasure, a transfer and back, a retention run.
import { agentChain } from '../../../src/domain/audit/entry/chain.js';
import type { StoredEntry } from '../../../src/domain/audit/entry/stored-entry.js';
import { scenario, type VerifierScenario } from './verifier-scenario.js';

export function erased(): VerifierScenario {
  const made = scenario();
  const entry = made.log.entries.filter((one) => one.event === 'hitl.rejected' && one.chain === 'agt_2')[1]!;
  made.erase('org_a', made.blank(entry, '/metadata/comment'));
  return made;
}

/** A member's value is gone, then another one's with its name, then the first one's name. */
export function nameless(): VerifierScenario {
  const made = scenario();
  const isCall = ({ event, chain }: StoredEntry) => event === 'execution.started' && chain === 'agt_2';
  const call = () => made.log.entries.find(isCall)!;
  made.erase('org_a', made.blank(call(), '/metadata/input/to'));
  made.erase('org_a', made.blank(call(), '/metadata/input/amount', '/metadata/input/[erased]'));
  made.erase('org_a', made.blank(call(), '/metadata/input/to', '/metadata/input/[erased] 2'));
  return made;
}

/** Of an agent that left and came back: how it left, and what it did later; not that it came. */
export function metAgain({ chain, event, payload }: StoredEntry): boolean {
  return chain === 'agt_1' && !(event === 'agent.transferred' && payload.includes('"direction":"in"'));
}

export function swept() {
  const made = scenario();
  const cuts = made.sweep('org_a', 14, { agt_1: 4, agt_2: 2, sys_org_a: 2 });
  made.call('org_a', 'agt_1', 50);
  return { made, log: made.log, cuts };
}

/** Calls to models: one with personal data in it, one that its client left, one that its provider refused. */
export function modelCalls(): VerifierScenario {
  const made = scenario();
  const place = { chain: agentChain('org_a', 'agt_1'), agentId: 'agt_1' };
  const capability = 'llm:invoke';
  const model = 'gpt-4o-mini';
  const digest = 'd'.repeat(43);
  const begun = (executionId: string, pii: string[]) => {
    const input = { model, provider: 'openai', tokens: 40, maxTokens: 4_096, stream: false, tools: 0, pii, digest, nonce: 'n' };
    made.add({ ...place, capability, type: 'execution.started', metadata: { executionId, definition: 'd', input, reasons: [] } });
    const counts = Object.fromEntries(pii.map((type, index) => [type, index + 2]));
    if (pii.length > 0) made.add({ ...place, type: 'llm.pii_detected', metadata: { executionId, model, counts, action: 'redacted' } });
    return { executionId, model, provider: 'openai', durationMs: 812 };
  };
  const [whole, left, refused] = [begun('exec_61', ['EMAIL_ADDRESS', 'IBAN_CODE']), begun('exec_62', []), begun('exec_63', [])];
  made.add({ ...place, type: 'llm.request', metadata: {
    ...whole, promptTokens: 38, completionTokens: 7, digest, piiDetected: true, piiRedacted: true, unscanned: 1, answerCounts: { URL: 1 },
  } });
  const outputSummary = `{"model":"${model}","usage":{"completionTokens":7,"promptTokens":38}}`;
  made.add({ ...place, capability, type: 'execution.completed', metadata: { executionId: 'exec_61', outputSummary } });
  made.add({ ...place, type: 'llm.request', metadata: { ...left, promptTokens: 40, completionTokens: 3, digest, brokenOff: true } });
  const gone = { code: 'CLIENT_CLOSED', message: 'The caller went away.' };
  made.add({ ...place, capability, type: 'execution.failed', metadata: { executionId: 'exec_62', error: gone } });
  const error = { code: 'PROVIDER_ERROR', message: 'The provider answered 500.' };
  made.add({ ...place, type: 'llm.provider_error', metadata: { ...refused, status: 500, error } });
  made.add({ ...place, capability, type: 'execution.failed', metadata: { executionId: 'exec_63', error } });
  return made;
}
