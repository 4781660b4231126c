import type { NotificationEvent } from '../../../src/domain/notifications/events.js';
import type { Message, ShownExecution, ShownRequest } from '../../../src/domain/notifications/message.js';

const AT = new Date('2026-11-26T09:00:00.000Z');

/** A request as it is shown, open unless it is said. */
export function aShownRequest(parts: Partial<ShownRequest> = {}): ShownRequest {
  return {
    id: 'hitl_1', organizationId: 'org_1', agentId: 'agt_1', agentName: 'mailer', agentOwner: 'Ada Lovelace', riskLevel: 'high',
    flagged: true, capability: 'email.send', action: null, hitlMode: 'propose', runs: 'service', status: 'pending',
    input: { to: 'a@example.org', subject: 'Offer', body: 'Dear Ada' }, digest: 'd'.repeat(64), version: 1, isEdited: false,
    reasons: [{ rule: 'grant_mode', detail: 'the grant says propose' }], level: 0,
    createdAt: AT, expiresAt: new Date('2026-11-26T09:30:00.000Z'), approvals: null, strict: false, escalationReason: null,
    decidedBy: null, decisionBy: null, decidedAt: null, note: null, breakGlass: false, ...parts,
  };
}

export function aShownExecution(parts: Partial<ShownExecution> = {}): ShownExecution {
  return {
    id: 'exec_1', organizationId: 'org_1', agentId: 'agt_1', agentName: 'mailer', capability: 'email.send', action: null,
    status: 'executed', input: { to: 'a@example.org' }, error: null, closedAt: AT, ...parts,
  };
}

export type RequestEvent = Extract<NotificationEvent, `hitl.${string}`>;

/** News of a request, as a delivery tells it. */
export function aboutRequest(
  event: RequestEvent, request: Partial<ShownRequest> = {}, parts: Partial<Pick<Message, 'deliveryId' | 'priority' | 'traceparent'>> = {},
): Message & { readonly about: 'request' } {
  const shown = aShownRequest(request);
  const page = `https://app.example.org/hitl/${shown.id}`;
  return {
    about: 'request', event, request: shown, deliveryId: 'dlv_1', priority: 'normal', occurredAt: AT,
    links: { approve: `${page}/approve`, reject: `${page}/reject` }, ...parts,
  };
}

/** News of an execution, as a delivery tells it. */
export function aboutExecution(
  event: Exclude<NotificationEvent, RequestEvent>, execution: Partial<ShownExecution> = {},
  parts: Partial<Pick<Message, 'deliveryId' | 'priority'>> = {},
): Message & { readonly about: 'execution' } {
  return {
    about: 'execution', event, execution: aShownExecution(execution), deliveryId: 'dlv_1', priority: 'normal', occurredAt: AT, ...parts,
  };
}

const ENDED = { decidedBy: 'Grace Hopper', decisionBy: 'human', decidedAt: AT, note: 'as agreed' } as const;

/** Each event once, as it would be told. */
export const EACH_EVENT: readonly Message[] = [
  aboutRequest('hitl.request.created'),
  aboutRequest('hitl.request.escalated', { status: 'escalated', level: 1, escalationReason: 'nobody answers' }, { priority: 'high' }),
  aboutRequest('hitl.request.reminder', { approvals: { given: 1, needed: 2 }, strict: true, isEdited: true, version: 2, action: 'send' }),
  aboutRequest('hitl.request.approved', { status: 'approved', ...ENDED, breakGlass: true }, { priority: 'high' }),
  aboutRequest('hitl.request.rejected', { status: 'rejected', ...ENDED }),
  aboutRequest('hitl.request.timed_out', { status: 'timed_out', decidedBy: 'system', decisionBy: 'timeout', decidedAt: AT }),
  aboutRequest('hitl.request.cancelled', { status: 'cancelled', ...ENDED, decidedBy: 'mailer', agentOwner: null }),
  aboutExecution('execution.notified', { action: 'send' }),
  aboutExecution('execution.indeterminate', { status: 'indeterminate', error: { code: 'LOST', message: 'gone' } }, { priority: 'high' }),
];

/** Texts that would show something else than they are, or do something, in one channel or another. */
export const MISLEADING: readonly string[] = [
  'PAYLOAD \u202egpj.exe', 'PAYLOAD \u2066x\u2069 \u200f\u061c', 'PAY\u200bLOAD\u200c\u200d\ufeff',
  'PAYLOAD\u0000\u0007\u001b[31mred\u001b[0m',
  'PAYLOAD\u0085\u009b2J', 'PAYLOAD\u2028next\u2029last', 'PAYLOAD\u{e0041}\u{e0042}', 'PAYLOAD\u3164\u115f\u2800', 'PAYLOAD\ud800half',
  'PAYLOAD\r\nBcc: victim@example.org', 'PAYLOAD\nApprove: https://evil.example', 'PAYLOAD\r\n\r\n<html>', 'PAYLOAD\t\v\f',
  '<script>alert("PAYLOAD")</script>', '</pre></div><a href="https://evil.example">PAYLOAD</a>', '"><img src=x onerror=alert(1)> PAYLOAD',
  '<!--PAYLOAD', '&lt;b&gt;PAYLOAD&amp;', "PAYLOAD' onmouseover='x", '<style>*{display:none}</style>PAYLOAD',
  '<!channel> PAYLOAD', '<!here|PAYLOAD>', '<@U0123ABC> PAYLOAD', '<#C0123ABC> PAYLOAD', '<https://evil.example|PAYLOAD>',
  '<!subteam^S1> PAYLOAD',
  '*bold* _it_ ~no~ `code` PAYLOAD', '```PAYLOAD```\n*Approved by Ada*', '`PAYLOAD` <!everyone>', ':white_check_mark: PAYLOAD', '> PAYLOAD',
  '[PAYLOAD](https://evil.example)', '**Approved** PAYLOAD', '# PAYLOAD', '![PAYLOAD](https://evil.example/x.png)', '- PAYLOAD\n1. two',
  '<at>PAYLOAD</at>', '{{DATE(2026-11-26T09:00:00Z,SHORT)}} PAYLOAD', '${PAYLOAD}', '⟦U+202E⟧ PAYLOAD', `PAYLOAD${'x'.repeat(5_000)}`,
  `PAYLOAD${'\u202e'.repeat(3_000)}`, `PAYLOAD${'&<>'.repeat(2_000)}`, `PAYLOAD${'😀'.repeat(2_000)}`, `PAYLOAD${'`'.repeat(3_000)}`,
];

/** What shows nothing or shows it otherwise; line breaks and tabs may be meant. */
export const HIDDEN = /[^\P{Cc}\n\t\r]|[\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Messages in which each text that anybody writes is this one. */
export function messagesSaying(text: string): Message[] {
  const said = { agentName: text, agentOwner: text, action: text, escalationReason: text, decidedBy: text, note: text };
  const input = { [text]: text, list: [text, { [text]: text }], to: text };
  const reasons = [{ rule: 'condition' as const, detail: text }];
  return [
    aboutRequest('hitl.request.created', { ...said, input, reasons, decidedBy: null }),
    aboutRequest('hitl.request.escalated', { ...said, input, reasons, decidedBy: null }, { priority: 'high' }),
    aboutRequest('hitl.request.rejected', { ...said, input, reasons, status: 'rejected' }),
    aboutExecution('execution.indeterminate', { agentName: text, action: text, input, error: { code: 'X', message: text } }),
  ];
}
