import { HIGHEST_LEVEL, isOpen } from '../../../domain/hitl/transition.js';
import { stricterOf } from '../../../domain/hitl/duties.js';
import { onBehalfOf } from '../../../domain/hitl/on-behalf-of.js';
import { type JsonObject, shownJson } from '../../../domain/json.js';
import { html, type Markup } from '../../../platform/http/pages/markup.js';
import type { RequestRow } from '../../hitl/requests/hitl-requests.query.js';
import { momentOf, type Note, noteOf } from '../../sign-in/pages/form-parts.js';
import type { DecisionFacts } from './decision-facts.query.js';
import { type DecisionForm, decisionForms } from './decision-form.js';
import { endedCard } from './ended-request.js';
import { durationOf, shownJsonValue, shownLines, shownText } from './shown-values.js';

/** What somebody is shown who may read a request. */
export interface DecisionView {
  readonly request: RequestRow;
  readonly facts: DecisionFacts;
  readonly note?: Note | undefined;
  /** Who reads it. */
  readonly reader: string;
  /** Absent where they may not decide it. */
  readonly form?: DecisionForm | undefined;
  /** Milliseconds. */
  readonly now: number;
}

const RISK: ReadonlySet<string> = new Set(['high', 'unacceptable']);

export function decisionTitle({ request, now }: Pick<DecisionView, 'request' | 'now'>): string {
  if (isUndecided(request, now)) return 'Approve or reject';
  return isOpen(request.status) ? 'The time is over' : 'Decided';
}

export function decisionPage(view: DecisionView): Markup {
  const { request, facts, note, form, now } = view;
  const open = isUndecided(request, now);
  return html`${noteOf(note)}<section class="card">
<h1>${open ? 'Approve or reject?' : decisionTitle(view)}</h1>
<p class="lead">${shownText(request.agentName)} asks to use <strong>${shownText(request.capability)}</strong>.</p>
${!open && endedCard(request, facts)}${factList(view)}</section>
<section class="card">
<h2>${open ? 'What would run' : 'What was asked for'}</h2>
${shownJsonValue(shownJson(request.input))}${editOf(request, facts)}${contextOf(request)}<p class="hint">Digest, which binds a decision to
exactly this</p>
<p class="digest">${request.digest}</p>
</section>
${reasonCard(request)}${open && form ? decisionForms(request, form) : undefined}<p class="foot">${shownText(nameOf(facts, view.reader))},
${shownText(facts.organization)}</p>`;
}

/** It may still be decided, as far as the clock here can tell. */
export function isUndecided({ status, expiresAt }: RequestRow, now: number): boolean {
  return isOpen(status) && expiresAt.getTime() > now;
}

export const nameOf = ({ names }: DecisionFacts, id: string): string => names.get(id) ?? id;

function factList({ request, facts, reader, now }: DecisionView): Markup {
  const { agentId, action, runs, createdAt, expiresAt, escalationLevel, escalatedTo, escalationReason, quorum, votes } = request;
  const risk = facts.riskLevel ?? 'unknown';
  const claimed = onBehalfOf(request.context === null ? undefined : (shownJson(request.context) as JsonObject));
  const others = facts.asked.filter((id) => id !== reader);
  const strict = stricterOf(request.separationOfDuties, facts.separationNow) === 'strict';
  return html`<dl class="facts">
<dt>Agent</dt><dd>${shownText(request.agentName)}<br><span class="meta">${agentId}</span></dd>
<dt>Owner</dt><dd>${facts.ownerId === null ? 'none' : shownText(nameOf(facts, facts.ownerId))}</dd>
<dt>Risk</dt><dd>${risk}${(request.flagged || RISK.has(risk)) && html`<span class="tag bad">flagged</span>`}</dd>
${action === null ? undefined : html`<dt>Action</dt><dd>${shownText(action)}</dd>
`}${claimed !== undefined && html`<dt>Says it acts for</dt><dd>${shownText(claimed)}</dd>
`}<dt>Who acts</dt><dd>${runs === 'service' ? 'This service, once it is approved' : 'The agent itself, once it is approved'}</dd>
<dt>When</dt><dd>${momentOf(createdAt)}</dd>
${isUndecided(request, now) && html`<dt>Time left</dt>
<dd>${durationOf((expiresAt.getTime() - now) / 1_000)}, until ${momentOf(expiresAt)}</dd>
`}${escalationLevel > 0 && html`<dt>Level</dt><dd>${escalationLevel === HIGHEST_LEVEL ? 'administrators' : "leads of the agent's team"}</dd>
`}${escalationReason === null ? undefined : html`<dt>Escalated</dt><dd>${shownText(escalationReason)}</dd>
`}${escalatedTo === null ? undefined : html`<dt>To</dt><dd>${shownText(nameOf(facts, escalatedTo))}</dd>
`}${quorum === null ? undefined : html`<dt>Approvals</dt><dd>${votes?.length ?? 0} of ${quorum.approvals}</dd>
`}${votes?.map(({ voter, at, note }) => html`<dt>Approved by</dt><dd>${shownText(nameOf(facts, voter))},
${momentOf(new Date(at))}${note === null ? undefined : shownLines(note)}</dd>
`) ?? []}${others.length > 0 && html`<dt>Also asked</dt>
<dd>${others.map((id, at) => html`${at > 0 && ', '}${shownText(nameOf(facts, id))}`)}</dd>
`}${strict && html`<dt>Separation</dt><dd>strict: nobody who stands behind the agent approves</dd>
`}</dl>
`;
}

function editOf({ editedBy, editedAt, requestedInput, editDiff }: RequestRow, facts: DecisionFacts): Markup | undefined {
  if (editedAt === null) return undefined;
  return html`<p class="note">${shownText(nameOf(facts, editedBy!))} edited this, ${momentOf(editedAt)}. It is not what was asked.</p>
<details>
<summary>As it was asked</summary>
${requestedInput === null ? undefined : shownJsonValue(shownJson(requestedInput))}<p class="hint">What was changed (RFC 6902)</p>
${shownJsonValue(editDiff)}</details>
`;
}

function contextOf({ context }: RequestRow): Markup | undefined {
  if (context === null) return undefined;
  return html`<details>
<summary>What the agent says about it</summary>
${shownJsonValue(shownJson(context))}</details>
`;
}

function reasonCard({ reasons }: RequestRow): Markup | undefined {
  if (reasons.length === 0) return undefined;
  return html`<section class="card">
<h2>Why a person is asked</h2>
<ul class="reasons">
${reasons.map(({ rule, detail }) => html`<li>${shownText(detail)} <span class="meta">${rule}</span></li>
`)}</ul>
</section>
`;
}
