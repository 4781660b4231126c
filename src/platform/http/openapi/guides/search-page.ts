import { escapeHtml } from '../../../../domain/escape-html.js';
import { page } from '../docs-markup.js';
import type { Found } from './search.js';

/** What was found, as a page: it works without scripts, and the script of the search box shows its list. */
export function searchPage(query: string, found: readonly Found[]): string {
  return page({
    title: 'Search · Countersign',
    query,
    main: `<h1>Search</h1>
${resultList(query, found)}`,
  });
}

function resultList(query: string, found: readonly Found[]): string {
  if (query.trim() === '') return '<p id="results">Type what you look for: a path, a word, the name of a member.</p>';
  if (found.length === 0) {
    return `<p id="results">Nothing has all of “${escapeHtml(query)}”. Try fewer words, or <a href="/docs#routes">all routes</a>.</p>`;
  }
  return `<ol id="results" class="results">
${found.map(result).join('\n')}
</ol>`;
}

function result({ href, method, title, summary, met, tag }: Found): string {
  const name = method === undefined
    ? `<span class="kind">${escapeHtml(tag)}</span> ${escapeHtml(title)}`
    : `<span class="kind ${method.toLowerCase()}">${method}</span> <code>${escapeHtml(title)}</code>`;
  const members = met.length === 0 ? '' : ` <span class="met">${met.map((one) => `<code>${escapeHtml(one)}</code>`).join(' ')}</span>`;
  return `<li><a href="${escapeHtml(href)}">${name}</a> <span>${escapeHtml(summary)}</span>${members}</li>`;
}
