import { escapeHtml } from '../../../../domain/escape-html.js';
import { page } from '../docs-markup.js';
import { type Guide, type Guides, GLOSSARY_PATH } from './guides.js';

/** The page of one document, with the others of its kind below. */
export function guidePage(guide: Guide, guides: Guides): string {
  const at = guides.howTo.indexOf(guide);
  const next = at < 0 ? undefined : guides.howTo[at + 1];
  const onward = next === undefined ? '' : `<p class="next">Next: <a href="${next.path}">${escapeHtml(next.title)}</a></p>`;
  return page({
    title: `${guide.title} · Countersign`,
    here: guide.path === GLOSSARY_PATH ? 'glossary' : 'how-to',
    main: `<article class="guide">
${guide.html}
${onward}
</article>`,
  });
}

/** The how-to pages, each with what it is for. */
export function guideList({ howTo }: Guides): string {
  const items = howTo.map(
    ({ path, title, lead }) => `<li><a href="${path}">${escapeHtml(title)}</a> <span>${escapeHtml(lead)}</span></li>`,
  );
  return `<ol class="guides">
${items.join('\n')}
</ol>`;
}
