// Logs in which something lawful has happened: an erasure, a transfer and back, a retention run.
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
