import type { RequestReply } from '@countersign/sdk';
import { oneLine, shownInput } from '../../../domain/notifications/plain-text.js';
import type { JsonObject } from '../../../domain/json.js';
import { cellText, distance, fields, moment, styled, table } from '../shown.js';

const OPEN: readonly RequestReply['status'][] = ['pending', 'escalated'];

export const isOpen = ({ status }: RequestReply): boolean => OPEN.includes(status);

/** Requests below each other. What agents wrote is in single lines in which every character can be seen. */
export function requestTable(requests: readonly RequestReply[]): string {
  return table(['request', 'status', 'agent', 'capability', 'ends'], requests.map((request) => [
    request.id, statusText(request), cellText(request.agentName),
    `${cellText(request.capability)}${request.flagged ? styled('yellow', ' !') : ''}`,
    isOpen(request) ? distance(Date.parse(request.expiresAt) - Date.now()) : '–',
  ]));
}

/** All that a person needs to decide: who asks, for what, why a person is asked, what would run, and its digest. */
export function requestText(request: RequestReply): string {
  const { reasons, payload, context = {}, requestedInput, quorum, votes = [], decidableBy: people } = request;
  const parts = [
    fields([
      ['request', request.id], ['status', statusText(request)],
      ['agent', `${oneLine(request.agentName)} (${request.agentId})`],
      ['capability', oneLine(request.capability, Infinity)], ['action', shown(request.action)],
      ['on behalf of', request.onBehalfOf === undefined ? undefined : `${oneLine(request.onBehalfOf)} (the agent says so)`],
      ['task', request.taskId], ['through', request.chain?.join(' → ')],
      ['risk', request.flagged ? styled('yellow', 'high or above') : undefined],
      ['runs', request.runs === 'service' ? 'by the service, once it is approved' : 'by the agent, once it is approved'],
      ['level', String(request.escalationLevel)],
      ['people', people && `${people.count} can approve it now${people.adminsOnly ? ', admins all' : ''}`],
      ['approvals', quorum && `${votes.length} of ${quorum.approvals}`],
      ['asked', moment(request.createdAt)], ['ends', isOpen(request) ? moment(request.expiresAt) : undefined],
      ['decided by', shown(request.decidedBy)], ['comment', shown(request.comment)],
      ['execution', request.execution && `${request.execution.id} (${request.execution.status})`],
    ]),
    ...reasons.length === 0 ? [] : [heading('Why a person is asked'), ...reasons.map(({ detail }) => `  ${oneLine(detail, Infinity)}`)],
    ...section(requestedInput === undefined ? 'What would run' : 'What would run, as it was edited', payload),
    ...requestedInput === undefined ? [] : section('What the agent asked for', requestedInput),
    ...Object.keys(context).length === 0 ? [] : section('Context, as the agent gives it', context),
    '', `  ${styled('dim', 'digest')}  ${request.actionDigest}`,
  ];
  return parts.join('\n');
}

const shown = (text: string | undefined) => (text === undefined ? undefined : oneLine(text, Infinity));
const heading = (text: string) => `\n  ${styled('bold', text)}`;
/** A heading, and JSON in which every character can be seen. */
export const section = (title: string, value: object): string[] =>
  [heading(title), shownInput(value as JsonObject).split('\n').map((line) => `    ${line}`).join('\n')];

function statusText({ status }: RequestReply): string {
  switch (status) {
    case 'pending':
    case 'escalated':
      return styled('yellow', status);
    case 'approved':
      return styled('green', status);
    case 'rejected':
    case 'timed_out':
    case 'cancelled':
      return styled('red', status);
  }
}
