import { isOpen } from '../../../domain/hitl/transition.js';
import { shownJson } from '../../../domain/json.js';
import { html, type Markup } from '../../../platform/http/pages/markup.js';
import type { RequestRow } from '../../hitl/requests/hitl-requests.query.js';
import { momentOf } from '../../sign-in/pages/form-parts.js';
import type { DecisionFacts } from './decision-facts.query.js';
import { shownJsonValue, shownLines, shownText } from './shown-values.js';

/** How a request ended, and what came of its action. */
export function endedCard(request: RequestRow, { names }: DecisionFacts): Markup {
  const { status, decidedBy, decidedAt, note, breakGlass } = request;
  if (isOpen(status)) return html`<p class="note bad" role="status">The time to decide is over. No decision counts any more.</p>
`;
  const tone = status === 'approved' ? 'good' : 'bad';
  const by = decidedBy === null || decidedBy === 'system' ? undefined : html` by ${shownText(names.get(decidedBy) ?? decidedBy)}`;
  return html`<div class="note ${tone}" role="status">
<p><strong>${WORDS[status]}</strong>${by}${decidedAt === null ? undefined : html`, ${momentOf(decidedAt)}`}.${
  breakGlass && ' The rules barred it: the glass was broken.'}</p>
${note !== null && shownLines(note)}</div>
${status === 'approved' && outcomeOf(request)}`;
}

const WORDS: Readonly<Record<string, string>> = {
  approved: 'Approved', rejected: 'Rejected', cancelled: 'Cancelled', timed_out: 'Not decided in time: it does not run',
};

function outcomeOf({ runs, executionStatus, executionReason, executionError, executionOutput }: RequestRow): Markup {
  const words = OUTCOMES[executionStatus] ?? executionStatus;
  return html`<p><strong>${executionStatus === 'executed' && runs === 'caller' ? 'The agent may act now' : words}</strong>${
    executionReason === null ? undefined : html`: ${shownText(executionReason)}`}${
    executionError === null ? undefined
      : html`: ${shownText(executionError.message)} <span class="meta">${executionError.code}</span>`}.</p>
${executionOutput === null ? undefined : html`<details>
<summary>What came back</summary>
${shownJsonValue(shownJson(executionOutput))}</details>
`}`;
}

const OUTCOMES: Readonly<Record<string, string>> = {
  pending_hitl: 'It will run in a moment', running: 'It is running', executed: 'It ran', failed: 'It failed',
  indeterminate: 'Whether it ran, nobody can say yet', cancelled: 'It did not run',
};
