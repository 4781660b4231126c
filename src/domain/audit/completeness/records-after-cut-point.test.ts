import { describe, expect, it } from '@jest/globals';
import { append, type MemoryLog } from '../../../../test/support/memory/memory-log.js';
import { newId } from '../../ids.js';
import type { AuditEvent } from '../catalogue/audit-events.js';
import { agentChain, organizationChain } from '../entry/chain.js';
import type { RecordKind, RecordRow } from './record-row.js';
import { Completeness, openRecord, WRONG_CLOCK_MS } from './completeness.js';
import { RecordGaps } from './record-gaps.js';

// Rows whose entries a retention run took are not asked for. Which ones these can be is recorded by when each was made, which its id says.

const KEY = Buffer.alloc(16, 7);
const ORGANIZATION = 'org_a';
const AGENT = newId('agt');
const BEGIN = Date.parse('2026-05-01T12:00:00.000Z');
/** Behind the cut by more than clocks are wrong. */
const LATER = BEGIN + WRONG_CLOCK_MS + 1_000;

type Chain = 'agent' | 'organization';
const refOf = (chain: Chain) => (chain === 'agent' ? agentChain(ORGANIZATION, AGENT) : organizationChain(ORGANIZATION));

/** What tells of no row. */
const OTHER: Readonly<Record<Chain, AuditEvent>> = {
  agent: { type: 'agent.activated', metadata: { epoch: 1 } } as AuditEvent,
  organization: { type: 'capability.definition_removed', capability: 'mail.sort', metadata: { capability: 'mail.sort' } } as AuditEvent,
};

/** Chains of which a retention run has left what was made from `BEGIN` on. */
class Cut {
  readonly log: MemoryLog = { entries: [], heads: [], leaves: [] };

  constructor() {
    for (const chain of ['agent', 'organization'] as const) {
      for (const at of [BEGIN - 1_000, BEGIN]) this.recorded(chain, OTHER[chain], at);
    }
    this.log.entries = this.log.entries.filter(({ seq }) => seq > 1);
  }

  recorded(chain: Chain, event: AuditEvent, at: number): this {
    append(this.log, { ...event, chain: refOf(chain), ...(chain === 'agent' && { agentId: AGENT }) },
      { id: newId('audit', at), actorId: 'usr_a', timestamp: new Date(at) });
    return this;
  }

  async compared(kind: RecordKind, rows: readonly RecordRow[]) {
    const sweeps = { sweptAt: () => BEGIN + 60_000, hasSwept: () => true };
    const completeness = new Completeness(KEY, sweeps, new RecordGaps(KEY), false);
    const inOrder = [...this.log.entries].sort((a, b) => (a.chain < b.chain ? -1 : a.chain > b.chain ? 1 : a.seq - b.seq));
    for (const entry of inOrder) completeness.entry(entry, openRecord(entry));
    const found = await completeness.end({
      rows: async function* () { yield { kind, rows }; },
      entries: async function* () { yield inOrder; },
    });
    return { checked: found.checked, swept: found.swept, breaks: found.breaks.map(({ detail }) => detail) };
  }
}

const granted = (grantId: string) => ({
  type: 'capability.granted', capability: 'web.search',
  metadata: { grantId, version: 1, capability: 'web.search', hitlMode: 'auto', timeoutAction: 'reject' },
}) as AuditEvent;

const grant = (id: string, agentId: string | null = AGENT): RecordRow => ({
  organizationId: ORGANIZATION, id, agentId, capability: 'web.search', status: 'granted',
  members: {
    version: 1, teamId: null, hitlMode: 'auto', expiresAt: null, timeoutSeconds: null, timeoutAction: 'reject', conditions: '[]',
    limits: '[]', quorum: null, reminders: '[]', revokedBy: null, grantedBy: 'usr_a',
  },
});

const erasure = (id: string): RecordRow => ({
  organizationId: ORGANIZATION, id, agentId: null, capability: '', status: 'asked',
  members: { kind: 'user', userId: 'usr_b', askedBy: 'usr_a', confirmedBy: null }, texts: { own: { reason: null } },
});

const execution = (id: string, entryId: string): RecordRow => ({
  organizationId: ORGANIZATION, id, agentId: AGENT, capability: 'web.search', status: 'executed',
  members: { entryId, requestedBy: AGENT, flagged: false, mode: 'unasked' },
});

describe('behind the cut of a sweep', () => {
  it.each([
    ['a grant', 'grant', (at: number) => grant(newId('grt', at))],
    ["a team's grant", 'grant', (at: number) => grant(newId('grt', at), null)],
    ['an erasure', 'erasure', (at: number) => erasure(newId('ers', at))],
    ['an execution that names a swept entry', 'execution', (at: number) => execution(newId('exec', at), newId('audit', BEGIN - 1_000))],
  ] as const)('%s that was made there needs its entry', async (_, kind, made) => {
    expect(await new Cut().compared(kind, [made(BEGIN - 1_000)])).toEqual({ checked: 0, swept: 1, breaks: [] });
    // Clocks may differ: within that nobody can tell.
    expect(await new Cut().compared(kind, [made(LATER - 2_000)])).toEqual({ checked: 0, swept: 1, breaks: [] });
    expect(await new Cut().compared(kind, [made(LATER)])).toEqual({
      checked: 0, swept: 0,
      breaks: [expect.stringMatching(/^(grant grt|erasure ers|execution exec)_\w+ has status \w+, and no entry records it$/)],
    });
  });

  describe('while a clock ran ahead', () => {
    const AHEAD = 25_000;
    const terms = { grantId: 'grt_1', grantVersion: 1, definition: 'd' };
    const began = (executionId: string) => ({
      type: 'execution.started', capability: 'web.search', metadata: { executionId, ...terms, input: {}, reasons: [] },
    }) as AuditEvent;
    const ended = (executionId: string) => ({
      type: 'execution.completed', capability: 'web.search', metadata: { executionId },
    }) as AuditEvent;
    const ran = (id: string, entryId: string): RecordRow => {
      const row = execution(id, entryId);
      return { ...row, members: { ...row.members, ...terms, requestedBy: 'usr_a', durationMs: null, hitlId: null, reason: null } };
    };

    it('what ended then may have been swept, though it is stamped behind what is left', async () => {
      const row = ran(newId('exec', BEGIN + AHEAD), newId('audit', BEGIN + AHEAD));
      expect(await new Cut().compared('execution', [row])).toEqual({ checked: 0, swept: 1, breaks: [] });
      const slow = ran(newId('exec', BEGIN + AHEAD), newId('audit', LATER));
      expect((await new Cut().compared('execution', [slow])).breaks)
        .toEqual([`execution ${slow.id} has status executed, and no entry records it`]);
    });

    it('what is left of that time is compared with its row all the same', async () => {
      const id = newId('exec', BEGIN + AHEAD);
      const cut = new Cut().recorded('agent', began(id), BEGIN + AHEAD).recorded('agent', ended(id), BEGIN + AHEAD);
      const row = ran(id, cut.log.entries.at(-1)!.id);
      expect(await cut.compared('execution', [row])).toEqual({ checked: 1, swept: 0, breaks: [] });
      expect((await cut.compared('execution', [{ ...row, status: 'failed' }])).breaks)
        .toEqual([`execution ${id} has status failed, its entries say executed`]);
      expect((await cut.compared('execution', [])).breaks)
        .toEqual([expect.stringMatching(new RegExp(`^execution ${id} is gone: entry 4 `))]);
    });
  });

  it('and so does one of a chain of which nothing is left', async () => {
    const cut = new Cut();
    cut.log.entries = [];
    expect((await cut.compared('grant', [grant(newId('grt', LATER))])).swept).toBe(1);
    const late = grant(newId('grt', LATER + 60_000));
    expect((await cut.compared('grant', [late])).breaks).toEqual([`grant ${late.id} has status granted, and no entry records it`]);
  });

  it('what has its entry there agrees, is gone where its row is gone, and is named where that says something else', async () => {
    const [agents, teams, asked] = [newId('grt', LATER), newId('grt', LATER), newId('ers', LATER)];
    const cut = new Cut().recorded('agent', granted(agents), LATER).recorded('organization', granted(teams), LATER)
      .recorded('organization', { type: 'gdpr.erasure_requested', metadata: { userId: 'usr_b', erasureId: asked, count: 1 } }, LATER);
    const [mine, ours, search] = [grant(agents), grant(teams, null), erasure(asked)];
    const grants = await cut.compared('grant', [mine, ours]);
    expect(grants).toMatchObject({ checked: 3, breaks: [expect.stringMatching(/^erasure ers_\w+ is gone/)] });
    const other = { ...search, members: { ...search.members, kind: 'values' } };
    const erasures = await cut.compared('erasure', [other]);
    expect(erasures.breaks).toContain(`erasure ${asked} has kind values, its entries say user`);
    expect(erasures.breaks).toContainEqual(expect.stringMatching(new RegExp(`^grant ${agents} is gone: entry 3 of chain agt_`)));
    const changed = await cut.compared('grant', [{ ...mine, members: { ...mine.members, version: 2 } }, ours]);
    expect(changed.breaks).toContain(`grant ${agents} has version 2, its entries say 1`);
  });

  it('a grant that was given before the cut is compared by what is left of it', async () => {
    const old = newId('grt', BEGIN - 1_000);
    const ending = { type: 'capability.revoked', capability: 'web.search', metadata: { grantId: old, capability: 'web.search' } };
    const cut = new Cut().recorded('agent', ending as AuditEvent, LATER);
    const row = grant(old);
    const revoked = { ...row, status: 'revoked', members: { ...row.members, revokedBy: 'usr_a', version: 5 } };
    expect(await cut.compared('grant', [revoked])).toMatchObject({ checked: 1, breaks: [] });
    expect((await cut.compared('grant', [{ ...revoked, status: 'granted' }])).breaks)
      .toEqual([`grant ${old} has status granted, its entries say revoked`]);
  });
});
