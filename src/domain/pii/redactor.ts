import type { EntityType } from './entity-types.js';
import { valueOf } from './escapes.js';
import type { Finding } from './finding.js';
import type { PiiAction } from './settings.js';
import { tokensIn, type TokenMap } from './answers/tokens.js';

/** Of these the last four characters stay, by which people tell their cards and accounts apart. */
const LAST_FOUR_STAY: ReadonlySet<EntityType> = new Set(['CREDIT_CARD', 'IBAN_CODE', 'PHONE_NUMBER']);

/**
 * Replaces what was found in the texts of one call. Tokens are numbered by type in the order of first appearance, so that a conversation
 * that is sent again gets the same ones; the same value has the same token. What maps them to values is held by this object alone.
 */
export class Redactor {
  private readonly tokenOf = new Map<string, string>();
  private readonly valueOf = new Map<string, string>();
  private readonly numbers = new Map<EntityType, number>();
  private readonly forged = new Set<string>();

  /** @param action `block` replaces like `redact`: what is blocked is shown to nobody, and a preview shows types */
  constructor(private readonly action: PiiAction) {}

  /**
   * Of `tokenize`: notes tokens that a text holds already, which somebody else wrote. They stay as they are in both directions, and no
   * value gets one of them. To be called for every text of the call before the first is redacted.
   */
  reserve(text: string): void {
    if (this.action === 'tokenize') for (const token of tokensIn(text)) this.forged.add(token);
  }

  /** @param findings sorted and without overlaps, as `scanText` answers them */
  redact(text: string, findings: readonly Finding[]): string {
    if (findings.length === 0) return text;
    const pieces: string[] = [];
    let from = 0;
    for (const finding of findings) {
      pieces.push(text.slice(from, finding.start), this.replacement(finding.type, valueOf(text, finding)));
      from = finding.end;
    }
    pieces.push(text.slice(from));
    return pieces.join('');
  }

  /** What stands in the place of a value. */
  replacement(type: EntityType, value: string): string {
    if (this.action === 'mask') return masked(type, value);
    return this.action === 'tokenize' ? this.token(type, value) : `<${type}>`;
  }

  /** Which values the tokens stand for, of `tokenize`; else empty. It must not outlive the call. */
  get tokens(): TokenMap {
    return this.valueOf;
  }

  private token(type: EntityType, value: string): string {
    const key = `${type} ${value}`;
    const known = this.tokenOf.get(key);
    if (known !== undefined) return known;
    let number = this.numbers.get(type) ?? 0;
    let token: string;
    do token = `<${type}_${++number}>`; while (this.forged.has(token));
    this.numbers.set(type, number);
    this.tokenOf.set(key, token);
    this.valueOf.set(token, value);
    return token;
  }
}

function masked(type: EntityType, value: string): string {
  const characters = [...value];
  const stays = LAST_FOUR_STAY.has(type) ? characters.length - 4 : characters.length;
  return characters.map((character, index) => (index < stays && /[\p{L}\p{N}\p{M}]/u.test(character) ? '*' : character)).join('');
}
