import { lowerOf } from '../../access/rank.js';
import { breakGlass, type Decider, type DutyCommand, judgeDecider, type Person } from '../../hitl/duties.js';
import { type Approver, type Quorum, stricterQuorum, tally } from '../../hitl/quorum.js';
import type { EscalationLevel, HitlCommand, HitlNext } from '../../hitl/transition.js';
import type { DeciderRecord, VoterRecord } from '../catalogue/basis.js';
import { notReplayable, type ReplayResult, RIGHT, UNKNOWN, wrong } from './replay-result.js';
import { moved, notItsWindow, type RequestState } from './replay-request.js';
import type { AgentState } from './state/agent-state.js';
import type { FactsAt } from './state/facts-at.js';
import type { GrantState } from './state/grant-state.js';

/** What somebody decided of a request, as the entry tells it, and what stands around it. */
export interface RecordedStep {
  readonly kind: DutyCommand['kind'];
  /** What that is to the table of transitions. */
  readonly command: HitlCommand;
  readonly actorId: string;
  readonly seq: number;
  readonly decider: DeciderRecord | undefined;
  readonly request: RequestState;
  readonly agent: AgentState;
  /** A stop of the agent's own is in force, or was since the window opened. */
  readonly isStopped: boolean;
  readonly wasStopped: boolean;
  /** Of an escalation: to which level it says that it goes, and when its new window ends. */
  readonly becomes?: { readonly level: EscalationLevel; readonly expiresAt: number | undefined };
}

export interface RecordedApproval extends RecordedStep {
  readonly digest: string | undefined;
  /** The owner's reason, where the glass was broken; undefined where it is erased. */
  readonly brokenGlass: { readonly reason: string | undefined } | undefined;
  /** Whose approvals counted beside the decider's. */
  readonly voters: readonly VoterRecord[] | undefined;
  /** The grant in force now. */
  readonly grant: GrantState | undefined;
}

/** Whether a person's step was one: in time, and by somebody who may. */
export function replayStep(step: RecordedStep, facts: FactsAt): ReplayResult {
  const { actorId, decider, request, command } = step;
  if (step.isStopped || facts.isStopped === true) return wrong('a stop held the agent');
  const outcome = moved(request, command, facts, step.wasStopped);
  if (outcome.kind === 'refused') {
    return wrong(outcome.code === 'HITL_EXPIRED' ? 'its time was over' : 'nobody is above those it stood before');
  }
  if (!decider) return wrong('it does not tell who decided');
  const problem = whyNotBy(actorId, decider, step, facts) ?? whyNotTo(outcome.next, step);
  return problem === undefined ? RIGHT : wrong(problem);
}

function whyNotTo({ level, expiresAt }: HitlNext, { becomes, request }: RecordedStep): string | undefined {
  if (!becomes) return undefined;
  if (becomes.level !== level) return `it goes to level ${level}, not to ${becomes.level}`;
  const { windowMs } = request;
  const isIts = windowMs === undefined || becomes.expiresAt === undefined || becomes.expiresAt === expiresAt.getTime();
  return isIts ? undefined : notItsWindow(windowMs);
}

/** Whether the approval was one: of what stood there, in time, by people who may, by as many as it takes. */
export function replayApproval(approval: RecordedApproval, facts: FactsAt): ReplayResult {
  const { request, digest, actorId, grant, brokenGlass, decider } = approval;
  if (request.approval) return wrong(`${request.id} was approved a second time`);
  if (digest !== undefined && request.digest !== undefined && digest !== request.digest) {
    return wrong('the approved digest is not that of the version that stood');
  }
  if (isErased(request.grant) || isErased(grant)) return notReplayable('erased');
  if (actorId === 'system') return byTime(approval, facts);
  const step = replayStep(approval, facts);
  if (step.kind !== 'right' || brokenGlass) return step;
  const quorum = stricterQuorum(request.grant?.facts.quorum ?? null, grant?.facts.quorum ?? null);
  const lack = quorum && whyNotByAsMany(quorum, { userId: actorId, ...decider! }, approval, facts);
  return lack ? wrong(lack) : RIGHT;
}

/** A grant that is unknown asks for nothing more. */
function isErased(grant: GrantState | undefined): boolean {
  return grant?.isErased === true && !grant.isUnknown;
}

/** Time approves what its grant lets it, then and now. */
function byTime({ request, grant, wasStopped }: RecordedApproval, facts: FactsAt): ReplayResult {
  if (!request.isApprovedByTime) return wrong('nobody approved it, and its time was not over');
  const needsPeople = grant && !grant.isUnknown && (grant.facts.quorum !== undefined || grant.facts.timeoutAction !== 'approve');
  const command: HitlCommand = { kind: 'timeout', trigger: 'window', ...(needsPeople ? { approvalNeeds: 'people' } : {}) };
  const outcome = moved(request, command, facts, wasStopped);
  if (outcome.kind === 'refused') return wrong('its time was not over');
  return outcome.action === 'approve' ? RIGHT : wrong('time alone does not approve it');
}

/** Why somebody may not take this step, with the rights that the entry says they had. */
function whyNotBy(userId: string, record: DeciderRecord, step: RecordedStep, facts: FactsAt): string | undefined {
  const { request, kind } = step;
  const decider = deciderOf(userId, record, step, facts);
  if (typeof decider === 'string') return decider;
  const command = commandOf(step);
  const agent = ownerOf(step.agent, userId);
  if (command.breakGlass && breakGlass(decider, command, record.level)?.kind !== 'may') {
    return `${userId} is no owner with a reason, who alone may break the glass`;
  }
  const verdict = judgeDecider({
    decider, agent, command: { ...command, kind },
    request: { level: request.level, createdAt: LONG_AGO, separationOfDuties: 'standard', initiators: initiatorsOf(userId, step), agent },
    organization: { separationOfDuties: 'standard', hasSingleUser: facts.peopleBeside(record) <= 1, selves: new Map() },
  });
  if (verdict.kind === 'may_not') {
    return verdict.code === 'SELF_APPROVAL' ? `${userId} is behind the action` : `${userId} may not decide at level ${request.level}`;
  }
  return verdict.highestLevel === record.level ? undefined : `${userId} decides at level ${verdict.highestLevel}, not at ${record.level}`;
}

const LONG_AGO = new Date(0);
/** Of a reason that is erased. */
const SOME_REASON = 'a reason that is gone';

/** Whoever the log knows by that id, in the role that the entry says; a text says why there is none. */
function deciderOf(userId: string, record: DeciderRecord, { agent }: RecordedStep, facts: FactsAt): Decider | string {
  if (userId === 'root' || record.role === 'root') return userId === record.role ? { kind: 'root' } : `${userId} is not ${record.role}`;
  const role = facts.role(userId, record);
  if (role === undefined) return `nobody called ${userId} is there`;
  // A provider's claims may have made it less.
  if (role !== UNKNOWN && lowerOf(record.role, role) !== record.role) return `${userId} was ${role}, not ${record.role}`;
  const recorded = agent.teamId === UNKNOWN ? UNKNOWN : agent.teamId === undefined ? undefined : facts.teamRoleOf(agent.teamId, userId);
  const teamRole = recorded === UNKNOWN ? (record.level === 1 ? 'lead' : 'member') : recorded;
  const person: Person = {
    kind: 'person', userId, role: record.role, accountSince: LONG_AGO, addressSince: LONG_AGO, roleSince: LONG_AGO,
    ...(teamRole === undefined ? {} : { membership: { role: teamRole, since: LONG_AGO, roleSince: LONG_AGO } }),
  };
  return person;
}

function ownerOf({ ownerId }: AgentState, userId: string): { ownerId?: string } {
  return ownerId === undefined ? {} : { ownerId: ownerId === UNKNOWN ? userId : ownerId };
}

function commandOf(step: RecordedStep): DutyCommand {
  const glass = 'brokenGlass' in step ? (step as RecordedApproval).brokenGlass : undefined;
  return { kind: step.kind, ...(glass ? { breakGlass: true, reason: glass.reason ?? SOME_REASON } : {}) };
}

/** Whoever edits may approve that version along, in the same call: then both entries stand beside each other. */
function initiatorsOf(userId: string, { seq, request: { initiators, lastEdit } }: RecordedStep): readonly string[] {
  return lastEdit?.by === userId && seq === lastEdit.seq + 1 ? lastEdit.before : initiators;
}

/** Why those who are counted are not enough. Each has approved the version that stands, and could approve it now. */
function whyNotByAsMany(quorum: Quorum, last: VoterRecord, approval: RecordedApproval, facts: FactsAt): string | undefined {
  const { request, voters, actorId } = approval;
  if (!voters) return 'it does not tell whose approvals counted';
  const counted = [last, ...voters.filter(({ userId }) => userId !== actorId)];
  for (const voter of counted) {
    const { userId } = voter;
    if (userId !== actorId && !request.voters.includes(userId)) return `${userId} is counted, and has not approved it`;
    const bar = whyNotBy(userId, voter, approval, facts);
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
