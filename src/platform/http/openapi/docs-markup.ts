import { escapeHtml } from '../../../domain/escape-html.js';

/** A sentence in which `code` stands between back-quotes. */
export function inlineCode(text: string): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>');
}

interface PageParts {
  title: string;
  /** Stylesheets and scripts, all from this origin: the policy allows no others and none inline. */
  head?: string;
  /** Which of the pages in the bar it is, or belongs to. */
  here?: 'api' | 'how-to' | 'errors' | 'glossary';
  /** What was searched for. */
  query?: string;
  main: string;
}

/** The frame of a documentation page. */
export function page({ title, head = '', here, query = '', main }: PageParts): string {
  const link = (name: NonNullable<PageParts['here']>, href: string, text: string) =>
    `<a href="${href}"${name === here ? ' aria-current="page"' : ''}>${text}</a>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="data:,">
${head}<link rel="stylesheet" href="/docs/assets/docs.css">
<script src="/docs/assets/search.js" defer></script>
</head>
<body>
<header class="bar">
<a class="name" href="/docs"><svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
<path d="M4 3v18M20 3v18M4 8h16M4 15h16" /><path class="tick" d="m8.5 11.5 2.5 2.5 5-5" />
</svg>Countersign</a>
<form role="search" action="/docs/search" autocomplete="off">
<input type="search" name="q" value="${escapeHtml(query)}" maxlength="100" placeholder="Search"
 aria-label="Search the API and the how-to pages">
</form>
<nav aria-label="Documentation">
${link('api', '/docs', 'API')}${link('how-to', '/docs/how-to', 'How-to')}${link('errors', '/docs/errors', 'Errors')}
${link('glossary', '/docs/glossary', 'Glossary')}<a href="/openapi.json">OpenAPI</a>
</nav>
</header>
<main>
${main}
</main>
</body>
</html>
`;
}
