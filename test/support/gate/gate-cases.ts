import type { GateQuestion, GrantFacts } from '../../../src/domain/gate/decide.js';
import type { Limit } from '../../../src/domain/gate/limits.js';
import {
  GRANT_WORDS, HITL_MODES, RISK_LEVELS, type GrantWord, type HitlMode, type RiskLevel,
} from '../../../src/domain/gate/vocabulary.js';

const NOW = new Date('2026-05-01T12:00:00.000Z');
const BEFORE = new Date(NOW.getTime() - 1);

const GRANTS = ['none', 'active', 'unexpired', 'expired', 'expires_now', 'revoked'] as const;
const CONDITIONS = ['none', ...HITL_MODES, 'does_not_hold', 'cannot', 'cannot_block'] as const;
/** What a limit says that is used up, of one that has room, and of a sum that is no amount beside a stricter limit. */
export const LIMITS = ['none', 'has_room', 'propose', 'escalate', 'block', 'no_amount'] as const;
const TOKENS = ['any', 'has', 'lacks'] as const;
const STATUSES = ['active', 'deactivated'] as const;

export interface Case {
  word: GrantWord;
  hardcoded: boolean;
  risk: RiskLevel;
  grant: (typeof GRANTS)[number];
  condition: (typeof CONDITIONS)[number];
  limit: (typeof LIMITS)[number];
  skipHitl: boolean;
  token: (typeof TOKENS)[number];
  status: (typeof STATUSES)[number];
  stopped: boolean;
}

export function* everyCase(): Generator<Case> {
  for (const word of GRANT_WORDS) for (const hardcoded of [false, true]) for (const risk of RISK_LEVELS) {
    for (const grant of GRANTS) for (const condition of CONDITIONS) for (const skipHitl of [false, true]) {
      for (const token of TOKENS) for (const status of STATUSES) for (const stopped of [false, true]) {
        // Limits come last, so they are varied only where the checks before them are passed.
        const limits = token === 'has' && status === 'active' && !stopped ? LIMITS : (['none'] as const);
        for (const limit of limits) yield { word, hardcoded, risk, grant, condition, limit, skipHitl, token, status, stopped };
      }
    }
  }
}

function limitsOf(limit: Case['limit']): Limit[] {
  switch (limit) {
    case 'none':
      return [];
    case 'has_room':
      return [{ max: 2, per: 'day', then: 'block' }];
    case 'no_amount':
      return [{ max: 9, per: 'day', then: 'propose', sum: 'input.missing' }, { max: 9, per: 'total', then: 'escalate' }];
    default:
      return [{ max: 1, per: 'day', then: limit }];
  }
}

function grantOf({ word, grant, condition, limit }: Case): GrantFacts | undefined {
  if (grant === 'none') return undefined;
  const expiresAt = { unexpired: new Date(NOW.getTime() + 1), expired: BEFORE, expires_now: NOW }[grant as 'expired'];
  const when = { does_not_hold: 'input.n > 5', cannot: 'input.missing > 5',
    cannot_block: 'input.missing > 5' }[condition as 'cannot'] ?? 'input.n > 0';
  const hitlMode = { does_not_hold: 'block', cannot: 'escalate', cannot_block: 'block' }[condition as 'cannot'] ?? condition;
  return {
    id: 'grt_1', version: 1, hitlMode: word, timeoutSeconds: 1800, timeoutAction: 'reject', reminders: [], limits: limitsOf(limit),
    conditions: condition === 'none' ? [] : [{ when, hitlMode: hitlMode as HitlMode }],
    ...(expiresAt ? { expiresAt } : {}),
    ...(grant === 'revoked' ? { revokedAt: BEFORE } : {}),
  };
}

export function questionOf(one: Case): GateQuestion {
  const capability = one.hardcoded ? 'finance.transfer' : 'email.send';
  const grant = grantOf(one);
  return {
    definition: { name: capability, hardcoded: one.hardcoded, digest: 'd' },
    ...(grant ? { grant } : {}),
    agent: { id: 'agt_1', riskLevel: one.risk, status: one.status, tags: [] },
    stops: one.stopped ? [{ id: 'stp_1' }] : [],
    ...(one.limit === 'none' ? {} : { used: ['1', '1'] }),
    call: {
      capability, input: { n: 1 }, now: NOW, skipHitl: one.skipHitl,
      tokenCapabilities: one.token === 'any' ? 'any' : one.token === 'has' ? ['web.search', capability] : ['web.search',
        'phone.call'],
    },
  };
}

// Written from the interface's text as a list of lookups, on purpose in another form than the code's.
