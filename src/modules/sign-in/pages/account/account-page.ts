import type { Role } from '../../../../domain/access/access.js';
import { html, type Markup } from '../../../../platform/http/pages/markup.js';
import { deviceOf } from '../../ports/device-name.js';
import type { SessionMethod } from '../../ports/sessions.js';
import { KEY_PICTURE, momentOf, newPasswordField, type Note, noteOf, SAID, tokenField } from '../form-parts.js';

export interface ShownSession {
  readonly id: string;
  readonly method: SessionMethod;
  readonly lastUsedAt: Date;
  readonly userAgent: string | null;
  readonly address: string | null;
  readonly isThis: boolean;
}

export interface ShownKey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** What somebody who is signed in is shown. */
export interface AccountView {
  readonly formToken: string;
  readonly note?: Note | undefined;
  readonly name: string | null;
  readonly email: string | null;
  readonly role: Role;
  readonly organization: string;
  /** Where they were on the way to. */
  readonly goOn?: string | undefined;
  readonly sessions: readonly ShownSession[];
  /** Absent where people come in through the identity provider. */
  readonly local?: LocalWays | undefined;
}

export interface LocalWays {
  readonly passkeys: readonly ShownKey[];
  readonly canAddPasskeys: boolean;
  readonly hasPassword: boolean;
  /** Signed in a moment ago: then nobody is asked for their password again. */
  readonly isFresh: boolean;
}

const WAYS: Readonly<Record<SessionMethod, string>> = {
  provider: 'through the identity provider', passkey: 'by passkey', password: 'by password',
};

export function accountPage(view: AccountView): Markup {
  const { name, email, role, organization, formToken, goOn, sessions, local } = view;
  const called = name ?? email ?? 'You';
  return html`${noteOf(view.note)}<section class="card">
<div class="who">
<span class="sign" aria-hidden="true">${[...called][0] ?? ''}</span>
<div>
<h1>${called}</h1>
<p class="meta">${name !== null && email !== null ? `${email} · ` : undefined}${role} at ${organization}</p>
</div>
</div>
<div class="actions">
${goOn === undefined ? undefined : html`<a class="button" href="${goOn}">Continue</a>
`}<form method="post" action="/sign-in/sign-out">${tokenField(formToken)}<button class="button plain" type="submit">Sign out</button></form>
</div>
</section>
${local && passkeyCard(local, formToken)}${local && passwordCard(local, formToken)}${sessionCard(sessions, formToken)}`;
}

function sessionCard(sessions: readonly ShownSession[], formToken: string): Markup {
  return html`<section class="card">
<h2>Where you are signed in</h2>
<p class="meta">End what you do not know, and then change how you sign in.</p>
<ul class="rows">
${sessions.map((session) => sessionRow(session, formToken))}</ul>
</section>
`;
}

function sessionRow({ id, method, lastUsedAt, userAgent, address, isThis }: ShownSession, formToken: string): Markup {
  const device = deviceOf(userAgent);
  return html`<li>
<div><p><strong>${device}</strong>${isThis && html`<span class="tag">this one</span>`}</p>
<p class="meta">${WAYS[method]}${address === null ? undefined : ` · ${address}`} · ${momentOf(lastUsedAt)}</p></div>
${isThis ? undefined : html`<form method="post" action="/sign-in/sessions/${id}/end">
${tokenField(formToken)}<button class="button plain small" type="submit" aria-label="End ${device}">End</button></form>
`}</li>
`;
}

function passkeyCard({ passkeys, canAddPasskeys, hasPassword, isFresh }: LocalWays, formToken: string): Markup | undefined {
  if (passkeys.length === 0 && !canAddPasskeys) return undefined;
  return html`<section class="card">
<h2>Passkeys</h2>
<p class="meta">You sign in as you unlock your device. Nobody can read it over your shoulder, or talk you out of it.</p>
${passkeys.length === 0 ? undefined : html`<ul class="rows">
${passkeys.map((passkey) => passkeyRow(passkey, formToken))}</ul>
`}${canAddPasskeys && html`<div class="more">
${SAID}<form data-passkey-add data-needs-passkeys hidden>
${!isFresh && hasPassword && html`<div class="field">
<label for="current-for-passkey">Your password</label>
<input id="current-for-passkey" name="current" type="password" autocomplete="current-password" required maxlength="1024">
<p class="hint">You signed in a while ago. Is it still you?</p>
</div>
`}${isFresh || hasPassword
    ? html`<button class="button plain" type="submit">${KEY_PICTURE}Add a passkey</button>
` : html`<p class="hint">To add one, sign out and in again first.</p>
`}</form>
<noscript><p class="hint">To add one, allow this page to run scripts.</p></noscript>
</div>
`}</section>
`;
}

function passkeyRow({ id, name, createdAt, lastUsedAt }: ShownKey, formToken: string): Markup {
  const used = lastUsedAt === null ? html`added ${momentOf(createdAt)}` : html`last used ${momentOf(lastUsedAt)}`;
  return html`<li>
<div><p><strong>${name}</strong></p><p class="meta">${used}</p></div>
<form method="post" action="/sign-in/passkeys/${id}/remove">${tokenField(formToken)}<button class="button plain small" type="submit"
aria-label="Remove ${name}">Remove</button></form>
</li>
`;
}

function passwordCard({ hasPassword, isFresh }: LocalWays, formToken: string): Markup {
  return html`<section class="card">
<h2>Password</h2>
<p class="meta">${hasPassword ? 'When you change it, you are signed out everywhere else.' : 'You have none. A passkey is all you need.'}</p>
<details>
<summary>${hasPassword ? 'Change it' : 'Set one'}</summary>
${isFresh || hasPassword ? html`<form method="post" action="/sign-in/password">
${tokenField(formToken)}${!isFresh && html`<div class="field">
<label for="current">Present password</label>
<input id="current" name="current" type="password" autocomplete="current-password" required maxlength="1024">
</div>
`}${newPasswordField(undefined)}<button class="button plain" type="submit">${hasPassword ? 'Change' : 'Set'} the password</button>
</form>
` : html`<p class="hint">To set one, sign out and in again first.</p>
`}</details>
</section>
`;
}
