import { lowerOf } from '../../access/rank.js';
import { breakGlass, type Decider, type DutyCommand, judgeDecider } from '../../hitl/duties.js';
import { type Approver, type Quorum, stricterQuorum, tally } from '../../hitl/quorum.js';
import type { HitlCommand, HitlNext } from '../../hitl/transition.js';
import type { DeciderRecord, VoterRecord } from '../catalogue/basis.js';
import { text, timeIn } from '../entry/open-entry.js';
import { deciderIn, levelIn, votersIn } from './recorded-basis.js';
import { notReplayable, type ReplayResult, RIGHT, UNKNOWN, wrong } from './replay-result.js';
import { notItsWindow, type RecordedStep, transitionOf } from './replay-request.js';
import type { FactsAt } from './state/facts-at.js';
import type { GrantState } from './state/grant-state.js';

/** Whether a person's step was allowed: in time, and by somebody who may. */
export function replayStep(step: RecordedStep, facts: FactsAt): ReplayResult {
  const { entry: { stored: { actorId }, metadata }, command } = step;
  if (step.isStopped || facts.isStopped === true) return wrong('a stop held the agent');
  const outcome = transitionOf(step, facts);
  if (outcome.kind === 'refused') {
    return wrong(outcome.code === 'HITL_EXPIRED' ? 'its time was over' : 'nobody is above those it stood before');
  }
  const decider = deciderIn(metadata);
  if (!decider) return wrong('it does not tell who decided');
  const problem = whyNotBy(actorId, decider, step, facts) ?? (command.kind === 'escalate' ? whyNotTo(outcome.next, step) : undefined);
  return problem === undefined ? RIGHT : wrong(problem);
}

/** Why an escalation cannot lead to the level and the window that its entry names. */
function whyNotTo({ level, expiresAt }: HitlNext, { entry: { metadata }, request }: RecordedStep): string | undefined {
  const [recorded, end] = [levelIn(metadata) ?? request.level, timeIn(metadata['expiresAt'])];
  if (recorded !== level) return `it goes to level ${level}, not to ${recorded}`;
  const { windowMs } = request;
  return windowMs === undefined || end === undefined || end === expiresAt.getTime() ? undefined : notItsWindow(windowMs);
}

/**
 * Whether an approval was allowed: of the current version, in time, by enough people who may.
 *
 * @param grants then in force, the acting agent's first
 */
export function replayApproval(step: RecordedStep, grants: readonly (GrantState | undefined)[], facts: FactsAt): ReplayResult {
  const { request, entry: { stored: { actorId }, metadata } } = step;
  if (request.approval) return wrong(`${request.id} was approved a second time`);
  const digest = text(metadata, 'digest');
  if (digest !== undefined && request.digest !== undefined && digest !== request.digest) {
    return wrong('the approved digest is not that of the version that stood');
  }
  const all = [request.grant, ...request.others, ...grants];
  if (all.some(isErased)) return notReplayable('erased');
  if (actorId === 'system') return byTime(step, grants[0], facts);
  const result = replayStep(step, facts);
  if (result.kind !== 'right' || metadata['breakGlass'] === true) return result;
  const quorum = all.map((grant) => grant?.facts.quorum ?? null).reduce(stricterQuorum);
  const lack = quorum && whyNotByAsMany(quorum, { userId: actorId, ...deciderIn(metadata)! }, step, facts);
  return lack ? wrong(lack) : RIGHT;
}

/** A grant that is unknown asks for nothing more. */
function isErased(grant: GrantState | undefined): boolean {
  return grant?.isErased === true && !grant.isUnknown;
}

/** Time approves where the grant allows that, when the request was made and at its end. */
function byTime(step: RecordedStep, grant: GrantState | undefined, facts: FactsAt): ReplayResult {
  if (!step.request.isApprovedByTime) return wrong('nobody approved it, and its time was not over');
  const needsPeople = grant && !grant.isUnknown && (grant.facts.quorum !== undefined || grant.facts.timeoutAction !== 'approve');
  const command: HitlCommand = { kind: 'timeout', trigger: 'window', ...(needsPeople ? { approvalNeeds: 'people' } : {}) };
  const outcome = transitionOf({ ...step, command }, facts);
  if (outcome.kind === 'refused') return wrong('its time was not over');
  return outcome.action === 'approve' ? RIGHT : wrong('time alone does not approve it');
}

/** Why somebody may not take this step, with the rights that the entry says they had. */
function whyNotBy(userId: string, record: DeciderRecord, step: RecordedStep, facts: FactsAt): string | undefined {
  const { request: { level, taskOwnerId }, agent: { ownerId } } = step;
  const decider = deciderOf(userId, record, step, facts);
  if (typeof decider === 'string') return decider;
  const command = dutyOf(step);
  const agent = ownerId === undefined ? {} : { ownerId: ownerId === UNKNOWN ? userId : ownerId };
  if (command.breakGlass && breakGlass(decider, command, record.level)?.kind !== 'may') {
    return `${userId} is no owner with a reason, who alone may break the glass`;
  }
  const result = judgeDecider({
    decider, agent, command,
    request: { level, createdAt: LONG_AGO, separationOfDuties: 'standard', initiators: initiatorsOf(userId, step), agent,
      ...(taskOwnerId === undefined ? {} : { taskOwnerId }) },
    organization: { separationOfDuties: 'standard', hasSingleUser: facts.peopleBeside(record) <= 1, selves: new Map() },
  });
  if (result.kind === 'may_not') {
    return result.code === 'SELF_APPROVAL' ? `${userId} is behind the action` : `${userId} may not decide at level ${level}`;
  }
  return result.highestLevel === record.level ? undefined : `${userId} decides at level ${result.highestLevel}, not at ${record.level}`;
}

const LONG_AGO = new Date(0);
/** In place of a reason that is erased. */
const SOME_REASON = 'a reason that is gone';

/** The person of that id in the log, in the role that the entry says; a text says why there is none. */
function deciderOf(userId: string, record: DeciderRecord, { agent: { teamId } }: RecordedStep, facts: FactsAt): Decider | string {
  if (userId === 'root' || record.role === 'root') return userId === record.role ? { kind: 'root' } : `${userId} is not ${record.role}`;
  const role = facts.role(userId, record);
  if (role === undefined) return `nobody called ${userId} is there`;
  // A provider's claims may have made it less.
  if (role !== UNKNOWN && lowerOf(record.role, role) !== record.role) return `${userId} was ${role}, not ${record.role}`;
  const recorded = typeof teamId === 'string' ? facts.teamRoleOf(teamId, userId) : teamId;
  const teamRole = recorded === UNKNOWN ? (record.level === 1 ? 'lead' : 'member') : recorded;
  return {
    kind: 'person', userId, role: record.role, accountSince: LONG_AGO, addressSince: LONG_AGO, roleSince: LONG_AGO,
    ...(teamRole === undefined ? {} : { membership: { role: teamRole, since: LONG_AGO, roleSince: LONG_AGO } }),
  };
}

function dutyOf({ command, entry: { metadata, erased } }: RecordedStep): DutyCommand {
  const kind = command.kind === 'vote' ? 'approve' : (command.kind as DutyCommand['kind']);
  if (command.kind !== 'approve' || metadata['breakGlass'] !== true) return { kind };
  return { kind, breakGlass: true, reason: erased.has('comment') ? SOME_REASON : (text(metadata, 'comment') ?? '') };
}

/** A person who edits may approve that version in the same call: then both entries stand beside each other. */
function initiatorsOf(userId: string, { entry: { stored: { seq } }, request: { initiators, lastEdit } }: RecordedStep): readonly string[] {
  return lastEdit?.by === userId && seq === lastEdit.seq + 1 ? lastEdit.before : initiators;
}

/** Why those who are counted are not enough. Each has approved the current version, and could approve it now. */
function whyNotByAsMany(quorum: Quorum, last: VoterRecord, step: RecordedStep, facts: FactsAt): string | undefined {
  const voters = votersIn(step.entry.metadata);
  if (!voters) return 'it does not tell whose approvals counted';
  const counted = [last, ...voters.filter(({ userId }) => userId !== last.userId)];
  for (const voter of counted) {
    const { userId } = voter;
    if (voter !== last && !step.request.voters.includes(userId)) return `${userId} is counted, and has not approved it`;
    const bar = whyNotBy(userId, voter, step, facts);
    if (bar !== undefined) return bar;
  }
  const approvers = counted.map(({ userId, role }): Approver => ({ id: userId, role, teamIds: teamsOf(userId, quorum, facts) }));
  const { met, approvals, needed, missing: [missing] } = tally(quorum, approvers, new Map());
  if (met) return undefined;
  if (!missing) return `${needed} people have to approve, and the log knows of ${approvals}`;
  return 'teamId' in missing ? `nobody of team ${missing.teamId} has approved` : `nobody who is at least ${missing.role} has approved`;
}

/** Of the teams that a quorum asks for, those that somebody is in. */
function teamsOf(userId: string, { groups = [] }: Quorum, facts: FactsAt): string[] {
  return groups.flatMap((group) => ('teamId' in group && facts.teamRoleOf(group.teamId, userId) !== undefined ? [group.teamId] : []));
}
