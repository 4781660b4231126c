import type { Role } from '../../../../domain/access/access.js';
import { html, type Markup } from '../../../../platform/http/pages/markup.js';
import { KEY_PICTURE, momentOf, newPasswordField, type Note, noteOf, SAID, tokenField } from '../form-parts.js';

/** What somebody who was invited is shown. */
export interface InvitationView {
  readonly formToken: string;
  /** Of the link. */
  readonly token: string;
  readonly note?: Note | undefined;
  readonly organization: string;
  readonly email: string;
  readonly role: Role;
  readonly expiresAt: Date;
  /** The host of the identity provider, where people come in through one. */
  readonly provider?: string | undefined;
  readonly hasPasskeys: boolean;
}

const MAY: Readonly<Record<Role, string>> = {
  viewer: 'see what agents do', member: 'decide what agents ask you', admin: 'decide, and look after agents and people',
  owner: 'decide, and look after everything',
};

export function invitationPage(view: InvitationView): Markup {
  const { organization, email, role, expiresAt, provider } = view;
  return html`<section class="card">
<h1>Welcome to ${organization}</h1>
<p class="lead">You were invited to ${MAY[role]}.</p>
${noteOf(view.note)}<dl class="facts">
<dt>For</dt><dd>${email}</dd>
<dt>Role</dt><dd>${role}</dd>
<dt>Until</dt><dd>${momentOf(expiresAt)}</dd>
</dl>
${provider === undefined ? localWays(view) : html`<a class="button" href="/api/v1/auth/login">Use your company account</a>
<p class="hint">You sign in at ${provider} with this address, and come back here.</p>
`}</section>
<p class="foot">The link works once. If you did not expect it, close this page.</p>`;
}

function localWays({ token, formToken, email, note, hasPasskeys }: InvitationView): Markup {
  const passkey = html`<div data-needs-passkeys hidden>
${SAID}<button class="button" type="button" data-passkey="invitation" data-token="${token}">${KEY_PICTURE}Create a passkey</button>
<p class="hint">You will sign in as you unlock this device. Nothing to remember.</p>
<p class="or">or choose a password</p>
</div>
`;
  return html`${hasPasskeys && passkey}<form method="post" action="/invitations/${token}">
${tokenField(formToken)}<input type="email" name="username" autocomplete="username" value="${email}" readonly hidden>
${newPasswordField(note?.tone === 'bad' ? note.text : undefined)}<button class="button" type="submit"
data-main>Accept with a password</button>
</form>
`;
}
