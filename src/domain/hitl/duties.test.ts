import { describe, expect, it } from '@jest/globals';
import type { Role } from '../access/access.js';
import { barredFrom, highestLevelOf, judgeDecider, stricterOf, type AgentTies, type Decider, type DutyCommand, type DutyQuestion,
  type Membership, type OrganizationTies, type Person, type RequestTies, type SeparationOfDuties } from './duties.js';
import type { EscalationLevel } from './transition.js';

const ASKED = new Date('2026-05-01T12:00:00.000Z');
const BEFORE = new Date(ASKED.getTime() - 1);
const ME = 'usr_me';
const MY_MAIL = 'Me@Example.org';

/** How the decider is tied to the action. */
const TIES = [
  'none', 'initiator by id', 'initiator by address', 'owner then', 'owner now', 'owner then and now', 'registrant', 'voucher',
  'vouched for by the initiator', 'voucher of the initiator', 'vouched for by the same as the initiator', 'vouched for by the registrant',
  'voucher of the owner', 'changed since an address was claimed', 'changed since an id was claimed',
] as const;
type Tie = (typeof TIES)[number];

const AGES = ['old', 'young account', 'young role', 'young key', 'young membership', 'young lead', 'agent came to the team'] as const;
type Age = (typeof AGES)[number];

const GLASS = ['unsent', 'without a reason', 'nine characters', 'ten characters'] as const;
type Glass = (typeof GLASS)[number];
const REASONS: Record<Glass, string | undefined> = {
  unsent: 'a long enough reason', 'without a reason': undefined, 'nine characters': '   é23456789  ', 'ten characters': ' é234567890 ',
};

interface Case {
  who: 'root' | Role;
  membership: 'none' | 'member' | 'lead';
  level: EscalationLevel;
  then: SeparationOfDuties;
  now: SeparationOfDuties;
  tie: Tie;
  age: Age;
  single: boolean;
  glass: Glass;
  command: DutyCommand['kind'];
}

const DIMENSIONS = {
  who: ['root', 'owner', 'admin', 'member', 'viewer'], membership: ['none', 'member', 'lead'], level: [0, 1, 2],
  then: ['standard', 'strict'], now: ['standard', 'strict'], tie: TIES, age: AGES, single: [false, true], glass: GLASS,
  command: ['approve', 'reject', 'escalate'],
} as const satisfies { [Name in keyof Case]: readonly Case[Name][] };

function question(c: Case): DutyQuestion {
  const since = (young: Age) => (c.age === young ? ASKED : BEFORE);
  const membership: Membership | undefined = c.membership === 'none'
    ? undefined
    : { role: c.membership, since: since('young membership'), roleSince: since('young lead') };
  const person: Person = {
    kind: 'person', userId: ME, email: MY_MAIL, role: c.who === 'root' ? 'owner' : c.who,
    accountSince: since('young account'), addressSince: c.tie.startsWith('changed since') ? ASKED : BEFORE,
    roleSince: since('young role'), keySince: since('young key'),
    ...(membership ? { membership } : {}),
  };
  const owner = c.tie === 'voucher of the owner' ? 'usr_guest' : undefined;
  const ownerThen = c.tie === 'owner then' || c.tie === 'owner then and now' ? ME : owner;
  const ownerNow = c.tie === 'owner now' || c.tie === 'owner then and now' ? ME : owner;
  const registeredBy = c.tie === 'registrant' ? ME : 'usr_admin';
  const initiators = c.tie === 'initiator by id' ? ['usr_else', ME]
    : c.tie === 'initiator by address' ? ['  me@EXAMPLE.org']
    : c.tie === 'changed since an id was claimed' ? ['usr_else', 'root'] : ['usr_else', 'Ann@Example.org'];
  const selves = new Map([
    [ME, [ME]], ['usr_else', ['usr_else']], ['ann@example.org', ['usr_ann', 'usr_boss']], ['usr_admin', ['usr_admin']],
    ['usr_guest', ['usr_guest']],
  ]);
  if (c.tie === 'vouched for by the initiator') selves.set(ME, [ME, 'usr_else']);
  if (c.tie === 'voucher of the initiator') selves.set('ann@example.org', ['usr_ann', ME]);
  if (c.tie === 'vouched for by the same as the initiator') selves.set(ME, [ME, 'usr_other', 'usr_boss']);
  if (c.tie === 'vouched for by the registrant') selves.set(ME, [ME, 'usr_admin']);
  if (c.tie === 'voucher of the owner') selves.set('usr_guest', ['usr_guest', 'usr_x', ME]);
  return {
    decider: c.who === 'root' ? { kind: 'root' } : person,
    request: {
      level: c.level, createdAt: ASKED, separationOfDuties: c.then, initiators,
      ...(c.tie === 'voucher' ? { vouchedBy: ME } : { vouchedBy: 'root' }),
      agent: {
        registeredBy, teamId: c.age === 'agent came to the team' ? 'team_before' : 'team_now',
        ...(ownerThen ? { ownerId: ownerThen } : {}),
      },
    },
    agent: { registeredBy, teamId: 'team_now', ...(ownerNow ? { ownerId: ownerNow } : {}) },
    organization: { separationOfDuties: c.now, hasSingleUser: c.single, selves },
    command: {
      kind: c.command, ...(c.glass === 'unsent' ? {} : { breakGlass: true }),
      ...(REASONS[c.glass] === undefined ? {} : { reason: REASONS[c.glass]! }),
    },
  };
}

/** The rules again, as sets of words that are looked up: written from the text, sharing nothing with the code. */
const LEVELS: Record<string, string> = {
  'root': '012', 'owner': '012', 'admin': '012', 'viewer': '', 'member lead': '01', 'member member': '0', 'member none': '',
};
const BARRED: Record<SeparationOfDuties, readonly Tie[]> = {
  standard: ['initiator by id', 'initiator by address', 'changed since an address was claimed'],
  strict: TIES.filter((tie) => tie !== 'none' && tie !== 'changed since an id was claimed'),
};
const YOUNG: readonly Age[] = ['young account', 'young role', 'young key'];
const GLASS_SAYS: Record<Glass, string> = {
  'unsent': 'barred', 'without a reason': 'REASON_REQUIRED', 'nine characters': 'REASON_REQUIRED', 'ten characters': 'may, glass broken',
};

function wanted(c: Case): string {
  const isOwnerOfAgent = c.tie === 'owner now' || c.tie === 'owner then and now';
  const levels = LEVELS[c.who === 'member' ? `member ${c.membership}` : c.who] + (c.who === 'member' && isOwnerOfAgent ? '0' : '');
  if (!levels.includes(String(c.level))) return 'NOT_ELIGIBLE';
  if (c.who === 'root' || c.single || c.command !== 'approve') return 'may';
  const strict = [c.then, c.now].includes('strict');
  const bars = [
    ...(BARRED[strict ? 'strict' : 'standard'].includes(c.tie) ? ['SELF_APPROVAL'] : []),
    ...(strict && YOUNG.includes(c.age) ? ['NOT_ELIGIBLE'] : []),
    ...(strict && c.who === 'member' && (c.age === 'young membership' || c.age === 'agent came to the team') ? ['NOT_ELIGIBLE'] : []),
    ...(strict && c.who === 'member' && c.level === 1 && c.age === 'young lead' ? ['NOT_ELIGIBLE'] : []),
  ];
  if (bars.length === 0) return 'may';
  const said = c.who === 'owner' ? GLASS_SAYS[c.glass] : 'barred';
  return said === 'barred' ? bars[0]! : said;
}

function seen(c: Case): string {
  const result = judgeDecider(question(c));
  if (result.kind === 'may_not') return result.code;
  return result.breakGlass ? 'may, glass broken' : 'may';
}

function* everyCase(): Generator<Case> {
  const names = Object.keys(DIMENSIONS) as (keyof Case)[];
  const indexes = names.map(() => 0);
  for (;;) {
    yield Object.fromEntries(names.map((name, i) => [name, DIMENSIONS[name][indexes[i]!]])) as unknown as Case;
    let i = 0;
    while (i < names.length && ++indexes[i]! === DIMENSIONS[names[i]!].length) indexes[i++] = 0;
    if (i === names.length) return;
  }
}

describe('who may decide', () => {
  it('agrees with the rules written otherwise, over the whole cross product', () => {
    const answers = new Map<string, number>();
    const differing: object[] = [];
    for (const c of everyCase()) {
      const [is, should] = [seen(c), wanted(c)];
      answers.set(is, (answers.get(is) ?? 0) + 1);
      if (is !== should && differing.length < 5) differing.push({ ...c, is, should });
    }
    expect(differing).toEqual([]);
    expect([...answers.keys()].sort()).toEqual(['NOT_ELIGIBLE', 'REASON_REQUIRED', 'SELF_APPROVAL', 'may', 'may, glass broken']);
    const product = Object.values(DIMENSIONS).reduce((count, values) => count * values.length, 1);
    expect([...answers.values()].reduce((sum, count) => sum + count, 0)).toBe(product);
  });

  it('never gets milder when the setting of either moment gets stricter', () => {
    const milder: object[] = [];
    for (const c of everyCase()) {
      if (c.then === 'strict' || c.command !== 'approve' || c.glass !== 'unsent' || seen(c) === 'may') continue;
      for (const stricter of [{ ...c, then: 'strict' }, { ...c, now: 'strict' }] as const) {
        if (seen(stricter) === 'may') milder.push(c);
      }
    }
    expect(milder).toEqual([]);
  });
});

describe('the highest level', () => {
  const person = (role: Role, membership?: Membership['role']): Decider => ({
    kind: 'person', userId: ME, role, accountSince: BEFORE, addressSince: BEFORE, roleSince: BEFORE,
    ...(membership ? { membership: { role: membership, since: BEFORE, roleSince: BEFORE } } : {}),
  });
  const mine: AgentTies = { ownerId: ME };

  it.each<[string, Decider, AgentTies, EscalationLevel | undefined]>([
    ['root', { kind: 'root' }, {}, 2],
    ['an owner', person('owner'), {}, 2],
    ['an admin', person('admin'), {}, 2],
    ['a member who is nothing to the agent', person('member'), {}, undefined],
    ['a member who owns the agent', person('member'), mine, 0],
    ['a member of its team', person('member', 'member'), {}, 0],
    ['a lead of its team', person('member', 'lead'), {}, 1],
    ['a lead of its team who owns it', person('member', 'lead'), mine, 1],
    ['a viewer who owns the agent and leads its team', person('viewer', 'lead'), mine, undefined],
  ])('of %s', (_name, decider, agent, level) => expect(highestLevelOf(decider, agent)).toBe(level));
});

describe('the words', () => {
  const request: RequestTies = {
    level: 0, createdAt: ASKED, separationOfDuties: 'standard', initiators: [ME], vouchedBy: 'usr_v',
    agent: { ownerId: 'usr_o', registeredBy: 'usr_r', teamId: 'team_1' },
  };
  const organization: OrganizationTies = { separationOfDuties: 'standard', hasSingleUser: false, selves: new Map() };

  it('say what bars and what helps', () => {
    const decider: Person = { kind: 'person', userId: ME, role: 'owner', accountSince: BEFORE, addressSince: BEFORE, roleSince: BEFORE };
    const judge = (command: DutyCommand) => judgeDecider({ decider, request, agent: request.agent, organization, command });
    expect(judge({ kind: 'approve' })).toEqual({
      kind: 'may_not', code: 'SELF_APPROVAL', detail: expect.stringMatching(/^It is your own action.* Somebody else has to approve\.$/),
    });
    expect(judge({ kind: 'approve', breakGlass: true })).toMatchObject({ detail: expect.stringContaining('10 characters') });
    expect(judge({ kind: 'approve', breakGlass: true, reason: 'the plant is burning' }))
      .toEqual({ kind: 'may', breakGlass: true, highestLevel: 2 });
  });

  it('name everybody whose accounts have to be looked at', () => {
    expect(barredFrom(request, { ownerId: 'usr_new' }, 'standard').map(({ name }) => name)).toEqual([ME]);
    expect(barredFrom(request, { ownerId: 'usr_new', registeredBy: 'usr_r' }, 'strict').map(({ name }) => name))
      .toEqual([ME, 'usr_o', 'usr_new', 'usr_r', 'usr_r', 'usr_v']);
    expect(barredFrom({ ...request, agent: {} }, {}, 'strict').map(({ name }) => name)).toEqual([ME, 'usr_v']);
  });

  it('the stricter of two settings is strict if one is', () => {
    expect(stricterOf('standard', 'standard')).toBe('standard');
    expect(stricterOf('standard', 'strict')).toBe('strict');
    expect(stricterOf('strict', 'standard')).toBe('strict');
  });
});
