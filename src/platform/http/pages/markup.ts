import { escapeHtml } from '../../../domain/escape-html.js';

/** HTML that is ready to be sent. Only `html` makes it, so whatever is put into it has been escaped. */
export class Markup {
  private constructor(readonly text: string) {}

  /** For text that is HTML already: pictures of our own. */
  static of(text: string): Markup {
    return new Markup(text);
  }
}

type Part = string | number | Markup | readonly Markup[] | undefined | false;

/** Puts HTML together: texts are escaped, markup stands as it is, lists stand one behind the other, nothing stands for nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return Markup.of(strings.reduce((text, string, at) => text + written(parts[at - 1]) + string));
}

function written(part: Part): string {
  if (part === undefined || part === false) return '';
  if (part instanceof Markup) return part.text;
  return typeof part === 'object' ? part.map(({ text }) => text).join('') : escapeHtml(String(part));
}
