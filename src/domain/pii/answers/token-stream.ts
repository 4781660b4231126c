import type { TextStream } from './text-stream.js';
import { restoreTokens, restoreTokensInJson, TOKEN_MAX, type TokenMap } from './tokens.js';

/**
 * Puts values in the place of tokens in a streamed text, wherever it is cut. Held back is only what may be the beginning of a known
 * token: fewer than 48 characters from a `<` on, which JSON may have escaped. Text without one passes at once.
 */
export class TokenStream implements TextStream {
  private buffer = '';
  private readonly beginnings = new Set<string>();
  private readonly restore: (text: string, tokens: TokenMap) => string;

  /** @param form `json` where the pieces are those of a JSON text, such as a tool's arguments */
  constructor(private readonly tokens: TokenMap, form: 'text' | 'json' = 'text') {
    this.restore = form === 'json' ? restoreTokensInJson : restoreTokens;
    for (const token of tokens.keys()) {
      for (const written of form === 'json' ? [token, `\\u003c${token.slice(1, -1)}\\u003e`] : [token]) {
        for (let length = 1; length < written.length; length++) this.beginnings.add(written.slice(0, length).toLowerCase());
      }
    }
  }

  push(piece: string): string {
    if (this.beginnings.size === 0) return piece;
    const text = this.buffer + piece;
    const cut = this.cutOf(text);
    this.buffer = text.slice(cut);
    return this.restore(text.slice(0, cut), this.tokens);
  }

  /** Where a token begins that has not ended. */
  private cutOf(text: string): number {
    let at = Math.max(0, text.length - TOKEN_MAX);
    for (; at < text.length; at++) {
      if (text[at] === '\\' && text[at + 1] === '\\') at++;
      else if ((text[at] === '<' || text[at] === '\\') && this.beginnings.has(text.slice(at).toLowerCase())) break;
    }
    return Math.min(at, text.length);
  }

  end(): string {
    const rest = this.buffer;
    this.buffer = '';
    return rest;
  }
}
