/** Runs in the browser, as a file of its own: the pages' policy forbids inline scripts. */
export const DOCS_SCRIPT = `
(() => {
  'use strict';
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', follow);
  follow();
  window.addEventListener('DOMContentLoaded', () => {
    const ui = window.SwaggerUIBundle({
      url: '/openapi.json',
      dom_id: '#api',
      deepLinking: true,
      docExpansion: 'list',
      defaultModelsExpandDepth: -1,
      displayRequestDuration: true,
      filter: false,
      // Nothing leaves this machine: no online validator, and keys typed in are forgotten with the page.
      validatorUrl: null,
      persistAuthorization: false,
      presets: [window.SwaggerUIBundle.presets.apis],
      layout: 'BaseLayout',
    });
    // A result of the search on this very page changes the anchor alone, which Swagger UI reads only when it loads.
    window.addEventListener('hashchange', () => {
      const anchor = decodeURIComponent(location.hash);
      ui.getSystem().layoutActions.parseDeepLinkHash(anchor);
      const operation = anchor.split('/')[2];
      if (!operation) return;
      // In the ids of its elements Swagger UI escapes what an operation's id may hold, such as dots.
      const isIt = ({ id }) => id.replaceAll('\\\\', '').endsWith('-' + operation);
      setTimeout(() => [...document.querySelectorAll('.opblock')].find(isIt)?.scrollIntoView(), 300);
    });
  });
})();
`;
