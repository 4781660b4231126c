import { describe, expect, it } from '@jest/globals';
import { AGENT, BEGIN, RecordedLog } from '../../../../test/support/memory/recorded-log.js';
import { sourceOf } from '../../../../test/support/memory/memory-log.js';
import { doublingSchema } from '../../../../test/support/routes/doubling-schema.js';
import { definitionDigest } from '../../gate/definition-digest.js';
import type { JsonObject, JsonValue } from '../../json.js';
import type { AuditEvent } from '../catalogue/audit-events.js';
import { byChain } from '../integrity/verify-entries.js';
import { policyCheck } from './policy-check.js';
import { RecordGaps } from '../completeness/record-gaps.js';
import { SharedFacts } from './state/shared-facts.js';

const KEY = new Uint8Array(16);

async function* none(): AsyncGenerator<never> {}

/** What the gate, asked once more, finds wrong; rows are not looked at. */
async function found({ log }: RecordedLog): Promise<string[]> {
  const shared = new SharedFacts(() => true);
  for (const entry of log.entries) if (entry.chain !== AGENT) shared.add(entry);
  const sorted = [...log.entries].sort(byChain);
  const judge = policyCheck({ key: KEY, shared, gaps: new RecordGaps(KEY), ofOneAgent: false }, {
    rows: none, subjects: none, leaves: () => sourceOf(log).queued(['org_a']),
    entries: async function* () {
      yield sorted;
    },
  });
  for (const entry of sorted) await judge.entry(entry);
  const { breaks } = await judge.end();
  return breaks.filter(({ kind }) => kind === 'gate_wrong').map(({ detail }) => detail.replace(/^entry (\d+) of chain \S+ /, '$1 '));
}

/** The last entry with another member in its payload, whatever its hash says to that; undefined: without it. */
function saying(recorded: RecordedLog, member: string, value: JsonValue | undefined): RecordedLog {
  const { entries } = recorded.log;
  const last = entries.at(-1)!;
  const { metadata, ...payload } = JSON.parse(last.payload) as { metadata: JsonObject };
  entries[entries.length - 1] = { ...last, payload: JSON.stringify({ ...payload, metadata: { ...metadata, [member]: value } }) };
  return recorded;
}

function stampedWith(recorded: RecordedLog, timestamp: string): RecordedLog {
  const { entries } = recorded.log;
  entries[entries.length - 1] = { ...entries.at(-1)!, timestamp };
  return recorded;
}

/** A call that no grant allows, which is found wrong as ever. */
const WRONG = 'the gate refuses it: The agent has no grant for this capability.';
const wrongly = (recorded: RecordedLog) => recorded.agent(500, {
  type: 'execution.started', capability: 'file.delete',
  metadata: { executionId: 'exec_wrong', definition: definitionDigest({}), input: {}, reasons: [] },
} as AuditEvent);

describe('an entry that says what no server writes', () => {
  it('is none where a server wrote it', async () => {
    const recorded = new RecordedLog().grant(1, { conditions: [{ when: 'input.a == 1', hitlMode: 'propose' }], limits: [] });
    expect(await found(recorded.begin(2, { input: { a: 2 } }))).toEqual([]);
  });

  it.each<[string, (recorded: RecordedLog) => RecordedLog, string]>([
    ['conditions', (recorded) => recorded.grant(1, { conditions: [null] }), '2 (capability.granted): no server writes such conditions'],
    ['limits', (recorded) => recorded.grant(1, { limits: [{ then: 'x' }] }), '2 (capability.granted): no server writes such limits'],
    ['quorum', (recorded) => recorded.grant(1, { quorum: {} }), '2 (capability.granted): no server writes such quorum'],
    ['input', (recorded) => recorded.grant(1).begin(2, { input: [] }), '3 (execution.started): no server writes such input'],
    ['version', (recorded) => saying(recorded.grant(1), 'version', 1.5), '2 (capability.granted): no server writes such version'],
    ['mode', (recorded) => saying(recorded.grant(1), 'hitlMode', 'constructor'), '2 (capability.granted): no server writes such hitlMode'],
    ['grant, which is missing', (recorded) => saying(recorded.grant(1), 'grantId', undefined),
      '2 (capability.granted): no server writes such grantId'],
    ['expiry', (recorded) => saying(recorded.grant(1), 'expiresAt', 'never'), '2 (capability.granted): no server writes such expiresAt'],
    ['flag', (recorded) => saying(recorded.grant(1).begin(2), 'flagged', 'yes'), '3 (execution.started): no server writes such flagged'],
    ['time', (recorded) => stampedWith(recorded.grant(1).begin(2), ' '.repeat(24)), '3 (execution.started): it is stamped with no time'],
  ])('in its %s', async (_, odd, named) => {
    expect(await found(wrongly(odd(new RecordedLog())))).toEqual(expect.arrayContaining([named, expect.stringContaining(WRONG)]));
  });

  it('leaves open what depends on it', async () => {
    expect(await found(new RecordedLog().grant(1, { conditions: [null] }).begin(2))).toHaveLength(1);
    const schema = {
      type: 'capability.defined', capability: 'web.search', metadata: { capability: 'web.search', definition: 'd', inputSchema: [] },
    };
    const recorded = new RecordedLog().organization(1, schema as unknown as AuditEvent).grant(2).begin(3, { definition: 'd' });
    expect(await found(recorded)).toEqual(['2 (capability.defined): no server writes such inputSchema']);
    const token = (more: object) => new RecordedLog().grant(1).agent(2, {
      type: 'agent.token_refreshed', metadata: { epoch: 0, expiresAt: new Date(BEGIN + 900_000).toISOString(), ...more },
    } as AuditEvent);
    for (const more of [{ expiresAt: 'soon' }, { capabilities: [{}] }]) {
      expect(await found(token(more).begin(100, {}, AGENT))).toHaveLength(1);
    }
  });

  it('and that nobody could evaluate is evaluated by nobody', async () => {
    const asking = (n: number) => ({ when: `now.getSeconds() == ${n} || input.n == ${n}`, hitlMode: 'propose' });
    const conditions = Array.from({ length: 3_000 }, (_, n) => asking(n));
    expect(await found(wrongly(new RecordedLog().grant(1, { conditions }).begin(2)))).toEqual([
      '2 (capability.granted): no server writes such conditions', expect.stringContaining(WRONG),
    ]);
    const inputSchema = doublingSchema(40);
    const definition = definitionDigest({ inputSchema });
    const schema = { type: 'capability.definition_updated', capability: 'web.search', metadata: {
      capability: 'web.search', definition, description: 'x', category: 'c', hitlMode: 'auto', riskScore: 1, inputSchema } };
    const recorded = new RecordedLog().organization(1, schema as unknown as AuditEvent).grant(2).begin(3, { definition });
    expect(await found(wrongly(recorded))).toEqual([
      '2 (capability.definition_updated): no server writes such inputSchema', expect.stringContaining(WRONG),
    ]);
  });

  it('is excused where what it said there is erased', async () => {
    expect(await found(new RecordedLog().grant(1, { conditions: [null] }).erase('/metadata/conditions'))).toEqual([]);
  });
});

describe('what still throws', () => {
  it('while an entry is judged is a matter of that entry', async () => {
    const readsTime = { conditions: [{ when: 'now > timestamp("2026-01-01T00:00:00Z")', hitlMode: 'propose' }] };
    // Before the first year that a condition knows.
    const recorded = new RecordedLog().grant(1, readsTime);
    const wrongs = await found(wrongly(recorded.begin(2, { basis: { ...recorded.basis(2), at: '0000-01-01T00:00:00.000Z' } })));
    expect(wrongs).toEqual(expect.arrayContaining(['3 (execution.started): it cannot be judged (Error)', expect.stringContaining(WRONG)]));
  });

  it("while the organization's own chain is read, too", async () => {
    const shared = new SharedFacts(() => {
      throw new RangeError('no matter');
    });
    const recorded = new RecordedLog().organization(1, {
      type: 'admin.audit_retention_sweep',
      metadata: { sweepId: 's', before: 'b', chains: [], archive: { skeleton: 'a', disclosures: 'b' },
        checkpoint: { size: 1, root: 'r', platformSize: 1, platformRoot: 'r' } },
    });
    const sweep = recorded.log.entries.at(-1)!;
    shared.add(sweep);
    expect(shared.whyUntaken(sweep.id)).toBe('it cannot be judged (RangeError)');
  });
});
