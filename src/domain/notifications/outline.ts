import { QUESTIONS } from './events.js';
import type { DecisionLinks, Message, ShownExecution, ShownRequest } from './message.js';
import { oneLine, shownInput } from './plain-text.js';

/** What a message says, before it takes the form of a channel. Every text shows every character, and has one line unless it is said. */
export interface Outline {
  readonly title: string;
  readonly isHigh: boolean;
  /** Questions ask for a decision, so they have links to decide by. */
  readonly links?: DecisionLinks;
  readonly facts: readonly (readonly [label: string, value: string])[];
  /** Why a person is asked. */
  readonly reasons: readonly string[];
  /** Whatever the action runs with, whole, over several lines. */
  readonly input?: string;
  /** What it is about, for whoever wants to look it up. */
  readonly reference: string;
}

const NAME = 80;
const NOTE = 500;
const DETAIL = 300;
const REASONS = 5;

const TITLES = {
  'hitl.request.created': 'Approval needed',
  'hitl.request.escalated': 'Escalated, approval needed',
  'hitl.request.reminder': 'Reminder, approval needed',
  'hitl.request.approved': 'Approved',
  'hitl.request.rejected': 'Rejected',
  'hitl.request.timed_out': 'Timed out',
  'hitl.request.cancelled': 'Cancelled',
  'execution.notified': 'Done',
  'execution.indeterminate': 'Nobody knows whether it was done',
} as const;

const LEVELS = ["the agent's owner and team", "the team's leads", "the organization's administrators"] as const;

export function outlineOf(message: Message): Outline {
  const isHigh = message.priority === 'high';
  if (message.about === 'test') {
    return {
      title: 'Test of this channel', isHigh, reasons: [], reference: message.deliveryId,
      facts: [['Organization', oneLine(message.organizationId)], ['Sent', shownTime(message.occurredAt)]],
    };
  }
  const capability = oneLine((message.about === 'request' ? message.request : message.execution).capability, NAME);
  if (message.about === 'execution') {
    return { title: `${TITLES[message.event]}: ${capability}`, isHigh, reasons: [], ...executionParts(message.execution) };
  }
  const { request } = message;
  const isQuestion = QUESTIONS.has(message.event);
  const broken = request.breakGlass && !isQuestion ? ' (glass broken)' : '';
  return {
    title: `${TITLES[message.event]}${broken}: ${capability}`,
    isHigh,
    ...(isQuestion ? { links: message.links } : {}),
    facts: [...agentFacts(request), ...(isQuestion ? questionFacts(request) : endFacts(request))],
    reasons: isQuestion ? request.reasons.slice(0, REASONS).map(({ detail }) => oneLine(detail, DETAIL)) : [],
    input: shownInput(request.input),
    reference: `${request.id}, digest ${request.digest}`,
  };
}

/** Without a zone of anybody's own: people of several read the same message. */
export function shownTime(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}

function agentFacts(request: ShownRequest): [string, string][] {
  const risk = request.flagged ? `${request.riskLevel}, flagged` : request.riskLevel;
  return [
    ['Agent', `${oneLine(request.agentName, NAME)} (${request.agentId})`],
    ['Owner', request.agentOwner === null ? 'none' : oneLine(request.agentOwner, NAME)],
    ['Risk', oneLine(risk)],
    ...(request.action === null ? [] : [['Action', oneLine(request.action, NAME)] as [string, string]]),
  ];
}

function questionFacts(request: ShownRequest): [string, string][] {
  const { approvals, escalationReason, strict, isEdited } = request;
  return [
    ['Decide before', shownTime(request.expiresAt)],
    ['Asked', LEVELS[request.level]],
    ['Then', request.runs === 'service' ? 'this service acts at once' : 'the agent may act'],
    ...(approvals === null ? [] : [['Approvals', `${approvals.given} of ${approvals.needed}`] as [string, string]]),
    ...(escalationReason === null ? [] : [['Escalated because', oneLine(escalationReason, NOTE)] as [string, string]]),
    ...(isEdited ? [['Edited', `version ${request.version}: this is not what the agent asked for`] as [string, string]] : []),
    ...(strict ? [['Separation of duties', 'strict'] as [string, string]] : []),
  ];
}

function endFacts({ decidedBy, decisionBy, decidedAt, note }: ShownRequest): [string, string][] {
  const who = decidedBy === null ? 'nobody' : oneLine(decidedBy, NAME);
  return [
    ['By', decisionBy === 'timeout' ? `${who}, since nobody decided in time` : who],
    ...(decidedAt === null ? [] : [['At', shownTime(decidedAt)] as [string, string]]),
    ...(note === null ? [] : [['Note', oneLine(note, NOTE)] as [string, string]]),
  ];
}

function executionParts(execution: ShownExecution): Pick<Outline, 'facts' | 'input' | 'reference'> {
  const { action, error, closedAt } = execution;
  return {
    facts: [
      ['Agent', `${oneLine(execution.agentName, NAME)} (${execution.agentId})`],
      ...(action === null ? [] : [['Action', oneLine(action, NAME)] as [string, string]]),
      ['Outcome', oneLine(execution.status)],
      ...(error === null ? [] : [['Error', oneLine(`${error.code}: ${error.message}`, NOTE)] as [string, string]]),
      ...(closedAt === null ? [] : [['At', shownTime(closedAt)] as [string, string]]),
    ],
    input: shownInput(execution.input),
    reference: execution.id,
  };
}
