import { html, type Markup } from './markup.js';

export interface PageParts {
  readonly title: string;
  readonly main: Markup;
  /** Paths of scripts of this origin, none of which the page needs. */
  readonly scripts?: readonly string[];
  /** For what is more than one form. */
  readonly isWide?: boolean;
}

/** The frame of a page that people use, and not only read: of signing in, and of refusals there. */
export function pageFrame({ title, main, scripts = [], isWide = false }: PageParts): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Countersign</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/sign-in/assets/sign-in.css">
${scripts.map((path) => html`<script src="${path}" defer></script>
`)}</head>
<body>
<header class="top">
<a class="name" href="/sign-in"><svg viewBox="0 0 24 24" width="28" height="28" aria-hidden="true">
<path d="M4 3v18M20 3v18M4 8h16M4 15h16" /><path class="tick" d="m8.5 11.5 2.5 2.5 5-5" />
</svg>Countersign</a>
</header>
<main${isWide ? html` class="wide"` : undefined}>
${main}
</main>
<footer class="foot"><a href="/docs">Documentation</a></footer>
</body>
</html>
`.text;
}
