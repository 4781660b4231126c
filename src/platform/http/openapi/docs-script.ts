/** Runs in the browser, as a file of its own: the pages' policy forbids inline scripts. */
export const DOCS_SCRIPT = `
(() => {
  'use strict';
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', follow);
  follow();
  // Swagger UI opens an operation and scrolls by itself, each when it comes to it: whoever scrolls last must be the one who is right.
  const bringIntoSight = (find, anchor, looks) => {
    if (looks === 0 || decodeURIComponent(location.hash) !== anchor) return;
    const found = find();
    const before = found?.getBoundingClientRect().top;
    found?.scrollIntoView();
    const isThere = found && Math.abs(found.getBoundingClientRect().top - before) < 1;
    if (!isThere) setTimeout(bringIntoSight, 150, find, anchor, looks - 1);
  };
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
      bringIntoSight(() => [...document.querySelectorAll('.opblock.is-open')].find(isIt), anchor, 100);
    });
  });
})();
`;
