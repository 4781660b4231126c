import { isDeepStrictEqual } from 'node:util';
import type { AuditEvent } from '../../../domain/audit/catalogue/audit-events.js';
import { agentChain, type ChainRef, organizationChain } from '../../../domain/audit/entry/chain.js';
import { type Condition, checkCondition, type Position } from '../../../domain/gate/conditions.js';
import { checkLimit, type Limit } from '../../../domain/gate/limits.js';
import type { HitlMode } from '../../../domain/gate/vocabulary.js';
import type { Quorum, QuorumGroup } from '../../../domain/hitl/quorum.js';
import type { Reminder } from '../../../domain/hitl/reminders.js';
import { DEFAULT_WINDOW_SECONDS } from '../../../domain/hitl/window.js';
import type { JsonValue } from '../../../domain/json.js';
import type { Plan } from '../../../platform/database/transaction/plan.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { invalid } from '../../../platform/http/fields/read-members.js';
import type { GrantEntity } from '../../capabilities/grant.entity.js';
import type { Definition } from '../../capabilities/definition.js';
import type { Holder } from '../../capabilities/grant.store.js';
import type { ConditionDto, GrantSettingsDto, LimitDto, QuorumDto, ReminderDto } from './grants.dto.js';

export function holderOf({ organizationId, id, agentId, teamId }: GrantEntity): Holder {
  if (agentId !== null) return { organizationId, agentId };
  if (teamId !== null) return { organizationId, teamId };
  throw new Error(`grant ${id} is nobody's`);
}

/** A team's grant concerns all agents of the team, so its entries are in the organization's chain. */
export function chainOf(holder: Holder): ChainRef {
  return 'agentId' in holder ? agentChain(holder.organizationId, holder.agentId) : organizationChain(holder.organizationId);
}

/** An agent's own grant is ordered by its head; a team's is one of the facts that the organization's agents share. */
export function planOf(holder: Holder): Plan {
  return { chains: [chainOf(holder)], ...('agentId' in holder ? {} : { changesShared: [holder.organizationId] }) };
}

/** The members of a grant that its makers set. */
export type GrantTerms = Pick<GrantEntity,
  'hitlMode' | 'timeoutSeconds' | 'timeoutAction' | 'conditions' | 'limits' | 'quorum' | 'reminders' | 'expiresAt'>;

/** How answers name the members, as `GrantReply` spells them. */
const ANSWERED_AS: Readonly<Record<keyof GrantTerms, string>> = {
  hitlMode: 'hitlMode', timeoutSeconds: 'hitl_timeout_seconds', timeoutAction: 'hitl_timeout_action', conditions: 'conditions',
  limits: 'limits', quorum: 'quorum', reminders: 'reminders', expiresAt: 'expiresAt',
};

export function defaultTerms(definition: Pick<Definition, 'defaultHitlMode'>): GrantTerms {
  return {
    hitlMode: definition.defaultHitlMode, timeoutSeconds: null, timeoutAction: 'reject', conditions: [], limits: [], quorum: null,
    reminders: [], expiresAt: null,
  };
}

/**
 * The terms after a change: what is left out stays, so that nothing is loosened by omission, and null returns to the default.
 *
 * @param pointer JSON pointer of the grant in the body
 */
export function termsAfter(former: GrantTerms, byDefault: GrantTerms, change: GrantSettingsDto, pointer = ''): GrantTerms {
  const { hitlMode, hitlTimeoutSeconds, hitlTimeoutAction, conditions, limits, quorum, reminders, expiresAt } = change;
  const after = <Value, Stored>(value: Value | null | undefined, stays: Stored, initial: Stored, read: (given: Value) => Stored) =>
    value === undefined ? stays : value === null ? initial : read(value);
  const same = <Value>(value: Value): Value => value;
  return {
    hitlMode: after(hitlMode, former.hitlMode, byDefault.hitlMode, same),
    timeoutSeconds: after(hitlTimeoutSeconds, former.timeoutSeconds, byDefault.timeoutSeconds, same),
    timeoutAction: after(hitlTimeoutAction, former.timeoutAction, byDefault.timeoutAction, same),
    conditions: after(conditions, former.conditions, byDefault.conditions, plainConditions),
    limits: after(limits, former.limits, byDefault.limits, plainLimits),
    quorum: after(quorum, former.quorum, byDefault.quorum, (given) => plainQuorum(given, former.quorum, pointer)),
    reminders: after(reminders, former.reminders, byDefault.reminders, plainReminders),
    expiresAt: after(expiresAt, former.expiresAt, byDefault.expiresAt, same),
  };
}

/** The members in which a grant differs from what it was, by their names in answers. */
export function changesOf(former: GrantTerms, now: GrantTerms): string[] {
  return (Object.keys(ANSWERED_AS) as (keyof GrantTerms)[])
    .filter((name) => !isDeepStrictEqual(former[name], now[name]))
    .map((name) => ANSWERED_AS[name]);
}

/** What is stored and hashed is data, not an instance of the class that read it. */
function plainConditions(conditions: readonly ConditionDto[]): Condition[] {
  return conditions.map(({ when, hitlMode, reason }) => ({ when, hitlMode, ...(reason === undefined ? {} : { reason }) }));
}

function plainLimits(limits: readonly LimitDto[]): Limit[] {
  return limits.map(({ max, per, sum, then }) => ({ max, per, ...(sum === undefined ? {} : { sum }), then }));
}

/**
 * @param pointer JSON pointer of the grant in the body
 * @throws Problem VALIDATION_FAILED where a group names a team and a role, or neither
 */
function plainQuorum(quorum: QuorumDto, former: Quorum | null, pointer: string): Quorum {
  if (quorum.groups === undefined) return { ...former, approvals: quorum.approvals };
  const groups = quorum.groups.map(({ teamId, role }, index): QuorumGroup => {
    if (teamId !== undefined && role === undefined) return { teamId };
    if (role !== undefined && teamId === undefined) return { role };
    throw invalid([{ pointer: `${pointer}/quorum/groups/${index}`, message: 'either teamId or role is required, not both' }]);
  });
  return { approvals: quorum.approvals, ...(groups.length === 0 ? {} : { groups }) };
}

function plainReminders(reminders: readonly ReminderDto[]): Reminder[] {
  return reminders.map(({ secondsBefore, escalate }) => ({ secondsBefore, ...(escalate ? { escalate } : {}) }));
}

/**
 * @param effectiveMode what the grant means for its holder, conditions and limits aside
 * @param pointer JSON pointer of the grant in the body
 * @throws Problem INVALID_CONDITION with the position, VALIDATION_FAILED, TIMEOUT_ACTION_NOT_ALLOWED
 */
export function assertUsable(grant: GrantEntity, effectiveMode: HitlMode, pointer: string): void {
  assertTimes(grant, effectiveMode, pointer);
  grant.conditions.forEach((condition, index) => {
    const check = checkCondition(condition.when);
    if (!check.ok) throw invalidExpression('condition', `${pointer}/conditions/${index}/when`, check.message, check.position);
  });
  grant.limits.forEach((limit, index) => {
    const check = checkLimit(limit);
    if (check.ok) return;
    const at = `${pointer}/limits/${index}/${check.member}`;
    if (!check.position) throw invalid([{ pointer: at, message: check.message }]);
    throw invalidExpression('sum', at, check.message, check.position);
  });
}

function assertTimes(grant: GrantEntity, effectiveMode: HitlMode, pointer: string): void {
  if (grant.timeoutAction === 'approve' && (effectiveMode === 'escalate' || grant.quorum !== null)) {
    const why = grant.quorum === null ? 'What an admin has to approve' : 'What several people have to approve';
    throw new Problem('TIMEOUT_ACTION_NOT_ALLOWED', `${why} is never approved by the passing of time.`, {
      errors: [{ pointer: `${pointer}/hitlTimeoutAction`, message: 'must be reject, escalate or notify_only' }],
    });
  }
  const seconds = grant.timeoutSeconds ?? DEFAULT_WINDOW_SECONDS;
  const errors = grant.reminders.flatMap(({ secondsBefore }, index) =>
    secondsBefore < seconds
      ? []
      : [{ pointer: `${pointer}/reminders/${index}/secondsBefore`, message: `must be less than the window of ${seconds} seconds` }]);
  if (errors.length > 0) throw invalid(errors);
}

function invalidExpression(what: string, pointer: string, message: string, { line, column, offset }: Position): Problem {
  return new Problem('INVALID_CONDITION', `The ${what} cannot be used: ${message} (line ${line}, column ${column}).`, {
    errors: [{ pointer, message }],
    members: { position: { line, column, offset } },
  });
}

export function eventOf(type: 'capability.granted' | 'capability.config_updated', grant: GrantEntity): AuditEvent {
  return {
    type,
    capability: grant.capability,
    metadata: {
      grantId: grant.id,
      version: grant.version,
      ...(grant.teamId === null ? {} : { teamId: grant.teamId }),
      capability: grant.capability,
      hitlMode: grant.hitlMode,
      timeoutAction: grant.timeoutAction,
      ...(grant.timeoutSeconds === null ? {} : { timeoutSeconds: grant.timeoutSeconds }),
      ...(grant.expiresAt === null ? {} : { expiresAt: grant.expiresAt.toISOString() }),
      ...(grant.conditions.length === 0 ? {} : { conditions: grant.conditions as unknown as JsonValue }),
      ...(grant.limits.length === 0 ? {} : { limits: grant.limits as unknown as JsonValue }),
      ...(grant.quorum === null ? {} : { quorum: grant.quorum as unknown as JsonValue }),
      ...(grant.reminders.length === 0 ? {} : { reminders: grant.reminders as unknown as JsonValue }),
    },
  };
}
