import { ENTITY_TYPES } from '../entity-types.js';

/** Which value a token stands for. */
export type TokenMap = ReadonlyMap<string, string>;

/** Longer ones are nobody's: `<FI_PERSONAL_IDENTITY_CODE_1234567>` has 35 characters, and ten more where its marks are escaped. */
export const TOKEN_MAX = 48;

const NAME = `(?:${ENTITY_TYPES.join('|')})_[1-9][0-9]{0,6}`;
const TOKEN = new RegExp(`<${NAME}>`, 'g');
/** Some serializers escape what HTML gives meaning to. Behind an escaped backslash there is no escape. */
const TOKEN_IN_JSON = new RegExp(`(?<!\\\\)((?:\\\\\\\\)*)(?:<|\\\\u003c)(${NAME})(?:>|\\\\u003e)`, 'gi');

/** Every token of a text, known or not. */
export function tokensIn(text: string): readonly string[] {
  return text.includes('<') ? text.match(TOKEN) ?? [] : [];
}

/** Puts values in the place of known tokens. Values are not read again: one that looks like a token stays. */
export function restoreTokens(text: string, tokens: TokenMap): string {
  if (tokens.size === 0 || !text.includes('<')) return text;
  return text.replace(TOKEN, (token) => tokens.get(token) ?? token);
}

/** The same inside of JSON: values are escaped as parts of the strings that the tokens stand in. */
export function restoreTokensInJson(json: string, tokens: TokenMap): string {
  if (tokens.size === 0 || !(json.includes('<') || json.includes('\\u003'))) return json;
  return json.replace(TOKEN_IN_JSON, (written, before: string, name: string) => {
    const value = tokens.get(`<${name}>`);
    return value === undefined ? written : before + JSON.stringify(value).slice(1, -1);
  });
}
