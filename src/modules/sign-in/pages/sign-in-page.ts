import { html, type Markup } from '../../../platform/http/pages/markup.js';
import { KEY_PICTURE, type Note, noteOf, SAID, tokenField } from './form-parts.js';

/** What somebody who is not signed in is shown. */
export interface SignInView {
  readonly formToken: string;
  /** Where they come when they are in. */
  readonly returnTo: string;
  readonly note?: Note | undefined;
  /** The host of the identity provider, where people come in through one: then there is no other way. */
  readonly provider?: string | undefined;
  readonly hasPasskeys: boolean;
  /** As it was typed. */
  readonly email?: string | undefined;
  readonly organization?: string | undefined;
  /** Of which to choose one: the password fits accounts in several. */
  readonly organizations?: readonly { readonly id: string; readonly name: string }[] | undefined;
}

export function signInPage(view: SignInView): Markup {
  if (view.organizations !== undefined) return choicePage(view, view.organizations);
  return html`<section class="card">
<h1>Sign in</h1>
<p class="lead">Approve, reject and look after what your agents do.</p>
${noteOf(view.note)}${view.provider === undefined ? localWays(view) : providerWay(view, view.provider)}</section>
<p class="foot">${view.provider === undefined
    ? 'No account yet? An administrator of your organization can invite you.'
    : 'Your organization decides there who may come in.'}</p>`;
}

const providerWay = ({ returnTo }: SignInView, host: string): Markup => html`
<a class="button" href="/api/v1/auth/login?returnTo=${encodeURIComponent(returnTo)}">Use your company account</a>
<p class="hint">You sign in at ${host} and come back here.</p>
`;

function localWays(view: SignInView): Markup {
  const { hasPasskeys, returnTo, email = '' } = view;
  const passkey = html`<div data-needs-passkeys hidden>
${SAID}<button class="button" type="button" data-passkey="sign-in" data-return-to="${returnTo}">${KEY_PICTURE}Sign in with a
passkey</button>
<p class="or">or with a password</p>
</div>
`;
  return html`${hasPasskeys && passkey}<form method="post" action="/sign-in">
${tokenField(view.formToken)}<input type="hidden" name="returnTo" value="${returnTo}">
<div class="field">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" inputmode="email" autocapitalize="none" spellcheck="false" required
maxlength="254" value="${email}">
</div>
${passwordField(view)}${organizationField(view)}<button class="button" type="submit" data-main>Sign in</button>
</form>
`;
}

const passwordField = ({ note, email }: SignInView): Markup => html`<div class="field">
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="1024"${
  email !== undefined && note?.tone === 'bad' ? html` aria-invalid="true" autofocus` : undefined}>
</div>
`;

/** Shown to everybody, so that it says nothing about an address. A person with many accounts may have to say which one. */
const organizationField = ({ organization = '' }: SignInView): Markup => html`<details${organization !== '' && html` open`}>
<summary>Accounts in several organizations?</summary>
<div class="field">
<label for="organization">Organization</label>
<input id="organization" name="organization" autocomplete="off" maxlength="200" value="${organization}"
aria-describedby="organization-hint">
<p class="hint" id="organization-hint">Its name, or its id (org_…). Leave it empty if you have one account only.</p>
</div>
</details>
`;

/** The password is typed once more: it would have to stand in the page otherwise. */
function choicePage(view: SignInView, organizations: NonNullable<SignInView['organizations']>): Markup {
  const { email = '', returnTo } = view;
  return html`<section class="card">
<h1>Which organization?</h1>
<p class="lead">You have an account in several. Choose one, and type its password once more.</p>
${noteOf(view.note)}<form method="post" action="/sign-in">
${tokenField(view.formToken)}<input type="hidden" name="returnTo" value="${returnTo}">
<fieldset class="choices">
<legend>Organization</legend>
${organizations.map(({ id, name }, at) => html`<label class="choice"><input type="radio" name="organization" value="${id}" required${
  at === 0 ? html` checked` : undefined}>${name}</label>
`)}</fieldset>
<div class="field">
<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" readonly value="${email}">
</div>
${passwordField({ ...view, note: undefined })}<button class="button" type="submit">Sign in</button>
</form>
</section>
<p class="foot"><a href="/sign-in">Use another account</a></p>`;
}
