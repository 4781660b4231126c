import { expect, test } from '@jest/globals';
import type { AgentPrincipal } from '../../../platform/auth/access/principal.js';
import { type AgentKeyStore, hashAgentKey, makeAgentKey } from './agent-key.store.js';
import { VerifiedAgentKeys } from './verified-agent-keys.js';

/** Stands for the table of keys, and counts how often it is asked. */
class Table implements Pick<AgentKeyStore, 'find'> {
  readonly rows = new Map<string, AgentPrincipal>();
  asked = 0;

  find(digests: readonly string[]): Promise<ReadonlyMap<string, AgentPrincipal>> {
    this.asked++;
    return Promise.resolve(new Map(digests.flatMap((digest) => (this.rows.has(digest) ? [[digest, this.rows.get(digest)!]] : []))));
  }
}

function verifiedOver(table: Table): VerifiedAgentKeys {
  return new VerifiedAgentKeys(table as unknown as AgentKeyStore);
}

test('a key that is there is looked up once, and answered at once from then on', async () => {
  const table = new Table();
  const key = makeAgentKey();
  const principal = { kind: 'agent', keyId: 'key_1' } as AgentPrincipal;
  table.rows.set(hashAgentKey(key), principal);
  const keys = verifiedOver(table);
  expect(await keys.find(key)).toBe(principal);
  for (let n = 0; n < 3; n++) expect(keys.find(key)).toBe(principal);
  expect(table.asked).toBe(1);
});

test('a key that nobody made is looked up each time and never kept: the same key may be made later', async () => {
  const table = new Table();
  const key = makeAgentKey();
  const keys = verifiedOver(table);
  for (let n = 0; n < 3; n++) expect(await keys.find(key)).toBeUndefined();
  expect(table.asked).toBe(3);
  const principal = { kind: 'agent', keyId: 'key_1' } as AgentPrincipal;
  table.rows.set(hashAgentKey(key), principal);
  expect(await keys.find(key)).toBe(principal);
});

test.each(['svc_agent_', `svc_agent_${'0'.repeat(63)}`, `svc_agent_${'0'.repeat(65)}`, `svc_agent_${'A'.repeat(64)}`,
  ` svc_agent_${'0'.repeat(64)}`])('what is no key by its form, %s, costs no look-up', (text) => {
  const table = new Table();
  expect(verifiedOver(table).find(text)).toBeUndefined();
  expect(table.asked).toBe(0);
});

test('at most 10,000 are kept', async () => {
  const table = new Table();
  const keys = verifiedOver(table);
  const made = Array.from({ length: 10_001 }, makeAgentKey);
  for (const key of made) table.rows.set(hashAgentKey(key), { kind: 'agent', keyId: key.slice(-6) } as AgentPrincipal);
  for (const key of made) await keys.find(key);
  expect(table.asked).toBe(10_001);
  expect(keys.find(made[10_000]!)).not.toBeInstanceOf(Promise);
  expect(keys.find(made[0]!)).toBeInstanceOf(Promise);
});

test('a key that is found dead is forgotten, and looked up when it comes again', async () => {
  const table = new Table();
  const key = makeAgentKey();
  const [first, second] = [{ kind: 'agent', keyId: 'key_1' } as AgentPrincipal, { kind: 'agent', keyId: 'key_2' } as AgentPrincipal];
  const keys = verifiedOver(table);
  table.rows.set(hashAgentKey(key), first);
  await keys.find(key);
  table.rows.set(hashAgentKey(key), second);
  keys.forget(first);
  expect(await keys.find(key)).toBe(second);
  // Of what is forgotten already, and of a principal that came by a token, nothing is kept.
  for (const stranger of [first, { kind: 'agent', keyId: 'key_2' } as AgentPrincipal]) keys.forget(stranger);
  expect(keys.find(key)).toBe(second);
  expect(table.asked).toBe(2);
});

test('those that can wait are looked up together: each has its answer, and hundreds cost a few queries', async () => {
  const table = new Table();
  const keys = verifiedOver(table);
  const [good, ...guessed] = Array.from({ length: 1_000 }, makeAgentKey);
  const principal = { kind: 'agent', keyId: 'key_1' } as AgentPrincipal;
  table.rows.set(hashAgentKey(good!), principal);
  const ask = (key: string) => keys.find(key, () => true);
  const answers = await Promise.all([...guessed.slice(0, 500), good!, good!, ...guessed.slice(500)].map(async (key) => ask(key)));
  expect(answers.filter((answer) => answer !== undefined)).toEqual([principal, principal]);
  expect(table.asked).toBeLessThanOrEqual(5);
  expect(ask(good!)).toBe(principal);
});
