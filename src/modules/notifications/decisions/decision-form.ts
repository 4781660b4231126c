import { BREAK_GLASS_REASON_MIN } from '../../../domain/hitl/duties.js';
import { html, type Markup } from '../../../platform/http/pages/markup.js';
import type { RequestRow } from '../../hitl/requests/hitl-requests.query.js';
import { tokenField } from '../../sign-in/pages/form-parts.js';

export const DECISIONS = ['approve', 'reject'] as const;
export type DecisionWord = (typeof DECISIONS)[number];

/** As the API takes it. */
export const NOTE_MAX = 4_000;

/** How this reader decides. */
export interface DecisionForm {
  readonly formToken: string;
  /** Which link was followed. */
  readonly side: DecisionWord;
  /** Of a mail's link: whoever opens it may be a machine, so that nothing is chosen for them. */
  readonly mailToken?: string | undefined;
  /** An owner may decide although the rules bar them. */
  readonly mayBreakGlass: boolean;
  /** As it was typed. */
  readonly note?: string | undefined;
}

const WORDS: Readonly<Record<DecisionWord, string>> = { approve: 'Approve', reject: 'Reject' };
const MEANS: Readonly<Record<DecisionWord, string>> = { approve: 'it runs', reject: 'it does not run' };

export function decisionForms(request: RequestRow, form: DecisionForm): Markup {
  const { side, mailToken, note = '' } = form;
  const order = side === 'approve' ? DECISIONS : ([...DECISIONS].reverse() as readonly DecisionWord[]);
  return html`<section class="card">
<h2>Your decision</h2>
<form method="post" action="/hitl/${request.id}/${side}">
${hiddenFields(request, form)}${mailToken === undefined ? undefined : choices(order)}<div class="field">
<label for="note">Note <span class="meta">(kept with the decision)</span></label>
<textarea id="note" name="note" rows="3" maxlength="${NOTE_MAX}">${note}</textarea>
</div>
<div class="actions">
${mailToken === undefined
    ? order.map((word, at) => html`<button class="button${at > 0 && ' plain'}" type="submit" name="decision"
value="${word}">${WORDS[word]}</button>
`) : html`<button class="button" type="submit">Decide</button>
`}</div>
</form>
</section>
${form.mayBreakGlass && mailToken === undefined ? breakGlassForm(request, form) : undefined}`;
}

const hiddenFields = ({ digest }: RequestRow, { formToken, mailToken }: DecisionForm): Markup => html`${tokenField(formToken)}<input
type="hidden" name="digest" value="${digest}">
${mailToken !== undefined && html`<input type="hidden" name="token" value="${mailToken}">
`}`;

const choices = (order: readonly DecisionWord[]): Markup => html`<fieldset class="choices">
<legend>Choose one</legend>
${order.map((word) => html`<label class="choice"><input type="radio" name="decision" value="${word}"
required>${WORDS[word]}: ${MEANS[word]}</label>
`)}</fieldset>
`;

function breakGlassForm(request: RequestRow, form: DecisionForm): Markup {
  return html`<section class="card">
<h2>Approve although it is barred</h2>
<p class="meta">As an owner you may approve alone what separation of duties, or the number of approvals, keeps you from. It is marked in the
log, and every administrator is notified.</p>
<details>
<summary>Break the glass</summary>
<form method="post" action="/hitl/${request.id}/approve">
${hiddenFields(request, form)}<input type="hidden" name="decision" value="approve">
<input type="hidden" name="breakGlass" value="true">
<div class="field">
<label for="reason">Reason</label>
<textarea id="reason" name="note" rows="3" required minlength="${BREAK_GLASS_REASON_MIN}" maxlength="${NOTE_MAX}"></textarea>
<p class="hint">At least ${BREAK_GLASS_REASON_MIN} characters.</p>
</div>
<button class="button bad" type="submit">Approve nevertheless</button>
</form>
</details>
</section>
`;
}
