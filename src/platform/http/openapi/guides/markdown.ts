import { Marked, type MarkedExtension, Renderer } from 'marked';
import { PROBLEMS } from '../../../../domain/problems.js';
import { problemType } from '../../reply/problem.filter.js';
import { escapeHtml } from '../../../../domain/escape-html.js';

/**
 * A document of ours as HTML: headings with an id to lead to, blocks of code that keyboards can scroll, codes of refusals as links to
 * what they mean. HTML in the document is shown as text.
 *
 * @param resolve where a link leads on this server; undefined where it does not, which leaves its words
 */
export function renderMarkdown(markdown: string, resolve: (href: string) => string | undefined): string {
  return new Marked({ renderer: rendererWith(resolve) }).parse(markdown, { async: false });
}

/** The id that GitHub gives a heading, too, so that one link serves both. */
export function headingId(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-');
}

function rendererWith(resolve: (href: string) => string | undefined): MarkedExtension['renderer'] {
  return {
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${escapeHtml(headingId(text))}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    code({ text, lang = '' }) {
      return `<pre tabindex="0" class="${lang === 'sh' ? 'type' : 'shown'}"><code>${escapeHtml(text)}</code></pre>\n`;
    },
    codespan({ text }) {
      const code = `<code>${escapeHtml(text)}</code>`;
      return Object.hasOwn(PROBLEMS, text) ? `<a href="${problemType(text as keyof typeof PROBLEMS)}">${code}</a>` : code;
    },
    link({ href, tokens }) {
      const words = this.parser.parseInline(tokens);
      const to = resolve(href);
      return to === undefined ? words : `<a href="${escapeHtml(to)}">${words}</a>`;
    },
    table(token) {
      return `<div class="wide" tabindex="0">${Renderer.prototype.table.call(this, token)}</div>\n`;
    },
    html({ text }) {
      return escapeHtml(text);
    },
  };
}
