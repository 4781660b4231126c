import { isHardcoded } from '../../gate/catalogue.js';
import { highestLevelOf, type Person } from '../../hitl/duties.js';
import { type Quorum, type QuorumGroup, stricterQuorum } from '../../hitl/quorum.js';
import { HIGHEST_LEVEL } from '../../hitl/transition.js';
import { ROLES, type Role } from '../../access/access.js';
import type { AgentState } from './state/agent-state.js';
import { Effort } from './superseded/effort.js';
import type { GrantState } from './state/grant-state.js';
import type { Moment } from './superseded/overlap.js';
import type { SharedView } from './superseded/shared-view.js';
import { notReplayable, type ReplayResult, RIGHT, UNKNOWN, wrong } from './replay-result.js';

/** A request as the entries before its decision tell it. */
export interface RequestState {
  readonly id: string;
  readonly executionId: string | undefined;
  readonly capability: string;
  readonly mode: string;
  readonly level: number;
  readonly definition: string | undefined;
  readonly digest: string | undefined;
  /** Of the version that stands; undefined where part of it is erased. */
  readonly inputHash: string | undefined;
  readonly askedAt: number;
  readonly askedSeq: number;
  /** How long a window it gives, in milliseconds: from when it was asked, and anew from each escalation. Undefined: nobody can tell. */
  readonly windowMs: number | undefined;
  /** When its window ends, if no stop makes it longer. */
  readonly expiresAt: number | undefined;
  /** The grant that asked, as it was. */
  readonly grant: GrantState | undefined;
  readonly onBehalfOf: string | undefined;
  readonly editors: readonly string[];
  /** Of the last edit: by whom, where, and who had edited before. */
  readonly lastEdit: { readonly by: string; readonly seq: number; readonly before: readonly string[] } | undefined;
  /** Who approved the version that stands, so far. */
  readonly voters: readonly string[];
  /** Time is about to approve it. */
  readonly isTimedOut: boolean;
  readonly approval: RecordedApproval | undefined;
}

export interface RecordedApproval {
  readonly entryId: string;
  /** Who decides at the highest level approved it. */
  readonly atHighest: (shared: SharedView) => boolean;
}

/** An approval as its entry tells it, and what stands around it. */
export interface ReplayedApproval {
  readonly organizationId: string;
  readonly actorId: string;
  readonly at: number;
  readonly seq: number;
  readonly digest: string | undefined;
  readonly breakGlass: boolean;
  readonly request: RequestState;
  readonly agent: AgentState;
  /** Those that may hold now. */
  readonly grants: readonly (GrantState | undefined)[];
  /** A stop of the agent's own was in force at some time since it was asked. */
  readonly wasStopped: boolean;
}

const ROOT = 'root';
const SYSTEM = 'system';

/** Whether the approval was one: of what stood there, in time, by people who may, by as many as it takes. As far as the log tells. */
export function replayApproval(asked: ReplayedApproval, shared: SharedView, moment: Moment): ReplayResult {
  const { request, digest, actorId } = asked;
  if (digest !== undefined && request.digest !== undefined && digest !== request.digest) {
    return wrong('the approved digest is not that of the version that stood');
  }
  if (request.grant?.isErased === true || asked.grants.some((grant) => grant?.isErased)) return notReplayable('erased');
  return actorId === SYSTEM ? byTime(asked, moment) : byPeople(asked, shared, moment);
}

/** At which levels somebody may have decided for the agent; -1: at none. */
export function levelsOf(userId: string, { organizationId, agent }: Pick<ReplayedApproval, 'organizationId' | 'agent'>, shared: SharedView,
  moment: Moment): number[] {
  if (userId === ROOT) return [HIGHEST_LEVEL];
  const since = new Date(0);
  const ownerId = agent.ownerId === UNKNOWN ? userId : agent.ownerId;
  return shared.roles(organizationId, userId, moment).flatMap((role) =>
    shared.teamRoles(organizationId, agent.teamId, userId, moment).map((place) => {
      if (role === undefined) return -1;
      const person: Person = {
        kind: 'person', userId, role, accountSince: since, addressSince: since, roleSince: since,
        ...(place === undefined ? {} : { membership: { role: place, since, roleSince: since } }),
      };
      return highestLevelOf(person, ownerId === undefined ? {} : { ownerId }) ?? -1;
    }));
}

function byTime(asked: ReplayedApproval, moment: Moment): ReplayResult {
  const { request, grants } = asked;
  if (!request.isTimedOut) return wrong('nobody approved it, and its time was not over');
  if (isHardcoded(request.capability) || request.mode === 'escalate') return wrong('time alone never approves this');
  if (request.editors.length > 0) return wrong('it was edited, and nobody else has looked at it');
  const asking = request.grant?.facts;
  if (asking && (asking.timeoutAction !== 'approve' || asking.quorum)) return wrong('its grant does not let time approve');
  if (!grants.some((grant) => !grant || (grant.facts.timeoutAction === 'approve' && !grant.facts.quorum))) {
    return wrong('its grant no longer let time approve');
  }
  // A stop only makes it longer.
  return request.expiresAt !== undefined && moment.to < request.expiresAt ? wrong('its time was not over') : RIGHT;
}

/** Whether no stop made its window longer. */
function isOver({ request, organizationId, wasStopped }: ReplayedApproval, shared: SharedView, { from, to }: Moment): boolean {
  if (request.expiresAt === undefined || from <= request.expiresAt || wasStopped) return false;
  return !shared.stopped(organizationId, { from: Math.min(request.askedAt, from), to }).possibly;
}

function byPeople(asked: ReplayedApproval, shared: SharedView, moment: Moment): ReplayResult {
  const { request, actorId, breakGlass, organizationId } = asked;
  if (isOver(asked, shared, moment)) return wrong('its time was over');
  if (actorId !== ROOT && !shared.knows(organizationId, actorId)) return wrong(`nobody called ${actorId} is there`);
  if (!mayDecide(actorId, asked, shared, moment)) return wrong(`${actorId} may not decide at level ${request.level}`);
  const isOwner = actorId === ROOT || shared.roles(organizationId, actorId, moment).includes('owner');
  if (breakGlass) return isOwner ? RIGHT : wrong(`${actorId} is no owner, who alone may break the glass`);
  if (isOwnAction(asked) && shared.activeUsers(organizationId, moment) > 1) return wrong(`${actorId} is behind the action`);
  return quorumMet(asked, shared, moment);
}

function mayDecide(userId: string, asked: ReplayedApproval, shared: SharedView, moment: Moment): boolean {
  return levelsOf(userId, asked, shared, moment).some((level) => level >= asked.request.level);
}

/** Whoever edits may approve that version along, in the same call: then both entries stand beside each other. */
function isOwnAction({ actorId, seq, request: { onBehalfOf, editors, lastEdit } }: ReplayedApproval): boolean {
  if (actorId === ROOT) return false;
  const isAlong = lastEdit?.by === actorId && seq === lastEdit.seq + 1;
  return onBehalfOf === actorId || (isAlong ? lastEdit.before : editors).includes(actorId);
}

/** What it takes to ask whether one of those who approved is of a group. */
const COMPARING = 100;

function quorumMet(asked: ReplayedApproval, shared: SharedView, moment: Moment): ReplayResult {
  const { request, grants, actorId } = asked;
  const approvers = [...new Set([...request.voters, actorId])].filter((id) => mayDecide(id, asked, shared, moment));
  const effort = new Effort();
  let first: string | undefined;
  for (const grant of grants) {
    if (effort.isSpent) return notReplayable('orders');
    const quorum = stricterQuorum(request.grant?.facts.quorum ?? null, grant?.facts.quorum ?? null);
    const lack = quorum && lacking(quorum, approvers, asked, shared, moment);
    if (!lack) return RIGHT;
    effort.add(COMPARING * (1 + (quorum.groups?.length ?? 0) * approvers.length));
    first ??= lack;
  }
  return wrong(first!);
}

function lacking(
  quorum: Quorum, approvers: readonly string[], asked: ReplayedApproval, shared: SharedView, moment: Moment,
): string | undefined {
  if (approvers.length < quorum.approvals) return `${quorum.approvals} people have to approve, and the log knows of ${approvers.length}`;
  const missing = (quorum.groups ?? []).find((group) => !approvers.some((id) => isOf(id, group, asked.organizationId, shared, moment)));
  if (!missing) return undefined;
  return 'teamId' in missing ? `nobody of team ${missing.teamId} has approved` : `nobody who is at least ${missing.role} has approved`;
}

function isOf(userId: string, group: QuorumGroup, organizationId: string, shared: SharedView, moment: Moment): boolean {
  if ('teamId' in group) return shared.teamRoles(organizationId, group.teamId, userId, moment).some((place) => place !== undefined);
  const rank = (role: Role | undefined) => (role === undefined ? -1 : ROLES.indexOf(role));
  return userId === ROOT || shared.roles(organizationId, userId, moment).some((role) => rank(role) >= ROLES.indexOf(group.role));
}
