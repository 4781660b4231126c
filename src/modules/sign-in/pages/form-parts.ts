import { html, type Markup } from '../../../platform/http/pages/markup.js';
import { FORM_TOKEN } from '../ports/sign-in-form.js';

/** Something that went wrong, or well, above what it is about. Read out at once. */
export interface Note {
  readonly tone: 'bad' | 'good';
  readonly text: string;
}

export const noteOf = (note: Note | undefined): Markup | undefined =>
  note && html`<p class="note ${note.tone}" role="${note.tone === 'bad' ? 'alert' : 'status'}">${note.text}</p>
`;

/** Where the script says what became of it. */
export const SAID = html`<p class="note bad" role="alert" data-said hidden></p>
`;

export const tokenField = (token: string): Markup => html`<input type="hidden" name="${FORM_TOKEN}" value="${token}">
`;

export const KEY_PICTURE = html`<svg viewBox="0 0 24 24" aria-hidden="true"><circle cx="7" cy="12" r="5" />
<path d="M12 12h10m-2 0v4.5M16.5 12v3M7 12h.01" /></svg>`;

const MOMENT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** A point in time; the script shows it as the reader's own clock does. */
export const momentOf = (date: Date): Markup => html`<time datetime="${date.toISOString()}">${MOMENT.format(date)} UTC</time>`;

/** A field for a password that is to be set, with what it has to be. */
export const newPasswordField = (error: string | undefined): Markup => html`<div class="field">
<label for="new-password">New password</label>
<input id="new-password" name="password" type="password" autocomplete="new-password" required minlength="12" maxlength="256"
aria-describedby="new-password-hint"${error === undefined ? undefined : html` aria-invalid="true"`}>
<p class="hint" id="new-password-hint">At least 12 characters. Three or four words that do not belong together are good.</p>
</div>
`;
