import { html, type Markup } from '../../../platform/http/pages/markup.js';
import { type Note, noteOf, tokenField } from '../../sign-in/pages/form-parts.js';
import { shownText } from '../decisions/shown-values.js';
import type { ChatLink } from './chat-links.js';

export interface ChatLinkView {
  readonly formToken: string;
  readonly link: ChatLink;
  readonly name: string;
  readonly organization: string;
  readonly note?: Note | undefined;
}

export function chatLinkPage({ formToken, link, name, organization, note }: ChatLinkView): Markup {
  const { workspace, workspaceName, chatUser, userName, text } = link;
  return html`<section class="card">
<h1>Link this Slack account?</h1>
<p class="lead">Buttons that it presses will decide as you.</p>
${noteOf(note)}<dl class="facts">
<dt>Slack user</dt><dd>${shownText(userName)}<br><span class="meta">${shownText(chatUser)}</span></dd>
<dt>Workspace</dt><dd>${shownText(workspaceName)}<br><span class="meta">${shownText(workspace)}</span></dd>
<dt>You</dt><dd>${shownText(name)}, ${shownText(organization)}</dd>
</dl>
<p class="hint">Go on only if you came here from a button that you pressed in Slack yourself, and this is your account there.</p>
<form method="post" action="/chat-accounts/link">
${tokenField(formToken)}<input type="hidden" name="link" value="${text}">
<div class="actions"><button class="button" type="submit">Link it to my account</button></div>
</form>
</section>`;
}

export const chatLinkedPage = (): Markup => html`<section class="card">
<h1>Linked</h1>
<p class="note good" role="status">Press the button in Slack again: it decides as you now.</p>
<p class="actions"><a class="button plain" href="/sign-in">To your account</a></p>
</section>`;
