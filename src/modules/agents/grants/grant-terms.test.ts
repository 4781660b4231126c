import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { changesOf, defaultTerms, type GrantTerms, termsAfter } from './grant-terms.js';
import type { GrantSettingsDto } from './grants.dto.js';

const BY_DEFAULT = defaultTerms({ defaultHitlMode: 'propose' });

/** Members as a body says them, and as the grant stores them. */
const STORED_AS = {
  hitlMode: 'hitlMode', hitlTimeoutSeconds: 'timeoutSeconds', hitlTimeoutAction: 'timeoutAction', conditions: 'conditions',
  limits: 'limits', quorum: 'quorum', reminders: 'reminders', expiresAt: 'expiresAt',
} as const satisfies Record<keyof GrantSettingsDto, keyof GrantTerms>;

const settings = fc.record({
  hitlMode: fc.constantFrom('auto', 'notify', 'block'),
  hitlTimeoutSeconds: fc.constantFrom(60, 3_600, null),
  hitlTimeoutAction: fc.constantFrom('escalate', 'notify_only', null),
  conditions: fc.constantFrom([{ when: 'input.amount > 10', hitlMode: 'escalate' }], [], null),
  limits: fc.constantFrom([{ max: 5, per: 'day', then: 'block' }], [], null),
  quorum: fc.constantFrom({ approvals: 2, groups: [{ role: 'owner' }] }, { approvals: 3, groups: [{ role: 'admin' }] }, null),
  reminders: fc.constantFrom([{ secondsBefore: 30 }], [], null),
  expiresAt: fc.constantFrom(new Date('2030-01-01T00:00:00Z'), new Date('2031-01-01T00:00:00Z'), null),
}, { requiredKeys: [] }) as fc.Arbitrary<GrantSettingsDto>;

describe('a sequence of grants by members', () => {
  it('changes what each says and nothing else: no term is loosened by a call that does not mention it', () => {
    fc.assert(fc.property(fc.array(settings, { maxLength: 6 }), (calls) => {
      let terms = BY_DEFAULT;
      for (const call of calls) {
        const before = terms;
        terms = termsAfter(before, BY_DEFAULT, call);
        for (const [member, stored] of Object.entries(STORED_AS) as [keyof GrantSettingsDto, keyof GrantTerms][]) {
          if (call[member] === undefined) expect(terms[stored]).toEqual(before[stored]);
          else expect(terms[stored]).toEqual(call[member] === null ? BY_DEFAULT[stored] : call[member]);
        }
      }
    }));
  });

  it('keeps the groups of a quorum that a call does not mention', () => {
    const groups = [{ role: 'admin' as const }];
    const asked = termsAfter(BY_DEFAULT, BY_DEFAULT, { quorum: { approvals: 2, groups } });
    expect(termsAfter(asked, BY_DEFAULT, { quorum: { approvals: 3 } }).quorum).toEqual({ approvals: 3, groups });
    expect(termsAfter(asked, BY_DEFAULT, { quorum: { approvals: 3, groups: [] } }).quorum).toEqual({ approvals: 3 });
  });

  it('says which members differ, by their names in answers', () => {
    const limited = termsAfter(BY_DEFAULT, BY_DEFAULT, { limits: [{ max: 1, per: 'day', then: 'block' }], hitlTimeoutSeconds: 60 });
    expect(changesOf(BY_DEFAULT, limited)).toEqual(['hitl_timeout_seconds', 'limits']);
    expect(changesOf(limited, termsAfter(limited, BY_DEFAULT, { hitlMode: 'propose' }))).toEqual([]);
  });
});
