import { describe, expect, it } from '@jest/globals';
import { definitionDigest } from '../../../gate/definition-digest.js';
import { NEW_AGENT } from '../state/agent-state.js';
import type { GrantState } from '../state/grant-state.js';
import { around } from './overlap.js';
import { possiblyHeld } from './possible-worlds.js';
import { type ReplayedCall, replayDecision } from '../replay-decision.js';
import type { SharedView } from './shared-view.js';

const AT = Date.parse('2026-05-01T12:00:30.000Z');
const FACTS = { name: 'web.search', hardcoded: false, digest: definitionDigest({}) };

const asked: ReplayedCall = {
  organizationId: 'org_a', agentId: 'agt_a', capability: 'web.search', at: AT, input: {}, context: undefined,
  erased: { input: undefined, context: undefined }, agent: { ...NEW_AGENT, teamId: 'team_1' }, own: undefined, revoked: new Set(),
  isStopped: false, byToken: false,
};

/** Changes of a team's grant that end each at another time, and what is read of them. */
function changes(count: number) {
  const read = { ends: 0, conditions: [] as number[] };
  const grants = Array.from({ length: count }, (_, version): GrantState => ({
    capability: 'web.search', isErased: false,
    facts: {
      id: 'grt_t', version, hitlMode: 'auto', limits: [], reminders: [], timeoutSeconds: 60, timeoutAction: 'reject',
      get expiresAt() {
        read.ends++;
        return new Date(AT - 5_000 + version);
      },
      get conditions() {
        read.conditions.push(version);
        return [];
      },
    },
  }));
  const shared = {
    definitions: () => [{ facts: FACTS, isErased: false }], stopped: () => ({ surely: false, possibly: false }), teamGrants: () => grants,
  } as unknown as SharedView;
  return { shared, read };
}

describe("changes of a team's grant that end each at another time", () => {
  it.each([100, 1_000])('%d are each looked at a few times', (count) => {
    const { shared, read } = changes(count);
    expect(new Set(possiblyHeld(asked, shared, around(AT)).map(({ grant }) => grant)).size).toBe(count);
    expect(read.ends).toBeLessThan(10 * count);
  });

  it('are asked for their conditions where the entry may mean them, and nowhere else', () => {
    const { shared, read } = changes(100);
    const fits = ({ kind }: { readonly kind: string }) => kind === 'run';
    expect(replayDecision(asked, { fits, grantId: 'grt_t', grantVersion: 7 }, shared)).toEqual({ kind: 'right' });
    expect(new Set(read.conditions)).toEqual(new Set([7]));
  });
});
