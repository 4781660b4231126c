import { html, type Markup } from '../../../platform/http/pages/markup.js';

/** Between signing out here and at the provider. The browser goes on by itself; the link is for one that does not. */
export const providerLogoutPage = (endSessionUrl: string): Markup => html`<section class="card">
<h1>You are signed out here</h1>
<p class="lead">Signing you out at your identity provider too…</p>
<a class="button" href="${endSessionUrl}">Go on</a>
</section>`;
