import type { TextStream } from './text-stream.js';
import { restoreTokens, restoreTokensInJson, TOKEN_MAX, type TokenMap } from './tokens.js';

/**
 * Puts values in the place of tokens in a streamed text, wherever it is cut. Held back is only what may be the beginning of a known
 * token: fewer than 40 characters from a `<` on. Text without one passes at once.
 */
export class TokenStream implements TextStream {
  private buffer = '';
  private readonly beginnings = new Set<string>();
  private readonly restore: (text: string, tokens: TokenMap) => string;

  /** @param form `json` where the pieces are those of a JSON text, such as a tool's arguments */
  constructor(private readonly tokens: TokenMap, form: 'text' | 'json' = 'text') {
    this.restore = form === 'json' ? restoreTokensInJson : restoreTokens;
    for (const token of tokens.keys()) {
      for (let length = 1; length < token.length; length++) this.beginnings.add(token.slice(0, length));
    }
  }

  push(piece: string): string {
    if (this.beginnings.size === 0) return piece;
    const text = this.buffer + piece;
    const last = text.lastIndexOf('<');
    const isCut = last >= 0 && text.length - last < TOKEN_MAX && this.beginnings.has(text.slice(last));
    this.buffer = isCut ? text.slice(last) : '';
    return this.restore(isCut ? text.slice(0, last) : text, this.tokens);
  }

  end(): string {
    const rest = this.buffer;
    this.buffer = '';
    return rest;
  }
}
