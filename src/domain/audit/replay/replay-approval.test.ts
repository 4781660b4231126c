import { expect, it } from '@jest/globals';
import { NEW_AGENT } from './state/agent-state.js';
import { type ReplayedApproval, replayApproval } from './replay-approval.js';
import { ANY_GRANT, type GrantState } from './state/grant-state.js';
import { around } from './superseded/overlap.js';
import { SharedFacts } from './state/shared-facts.js';

const asking = (approvals: number): GrantState => ({
  capability: 'web.search', isErased: false, facts: { ...ANY_GRANT.facts, id: 'grt_t', quorum: { approvals } },
});

function judged(grants: readonly GrantState[]) {
  const request = {
    id: 'hitl_1', executionId: undefined, capability: 'web.search', mode: 'propose', level: 0, definition: undefined, digest: 'd',
    inputHash: undefined, askedAt: 0, askedSeq: 1, windowMs: undefined, expiresAt: undefined, grant: undefined, onBehalfOf: undefined,
    editors: [], lastEdit: undefined, voters: [], isTimedOut: false, approval: undefined,
  };
  const asked: ReplayedApproval = {
    organizationId: 'org_a', actorId: 'root', at: 0, seq: 2, digest: 'd', breakGlass: false, request, agent: NEW_AGENT, grants,
    wasStopped: false,
  };
  return replayApproval(asked, new SharedFacts(() => true).read('as told'), around(0));
}

it('an approval is compared with the quorums of some grants, and not of as many as somebody may append', () => {
  const times = (count: number) => Array.from({ length: count }, () => asking(2));
  expect(judged(times(1_000))).toMatchObject({ kind: 'wrong' });
  expect(judged([...times(1_000), asking(1)])).toEqual({ kind: 'right' });
  expect(judged(times(40_000))).toEqual({ kind: 'not_replayable', because: 'orders' });
});
