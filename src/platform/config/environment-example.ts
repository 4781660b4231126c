import { SECTIONS, docOf } from './config.schema.js';

/** One setting of the server. */
export interface EnvironmentVariable {
  readonly name: string;
  readonly section: string;
  readonly meaning: string;
  /** What holds where it is unset, as it would be written; undefined where that depends. */
  readonly default: string | undefined;
  /** What holds where it is unset, in words. */
  readonly unset: string | undefined;
  /** It may instead stand in a file that <name>_FILE names. */
  readonly secret: boolean;
}

export function environmentVariables(): EnvironmentVariable[] {
  return SECTIONS.flatMap(({ title, shape }) => Object.entries<object>(shape).map(([name, type]) => {
    const { doc, fallback, otherwise, secret } = docOf(type);
    const said = { name, section: title, meaning: doc, secret: secret === true };
    const isNone = otherwise === undefined && fallback === '';
    return isNone ? { ...said, default: undefined, unset: 'none' } : { ...said, default: fallback, unset: otherwise };
  }));
}

/** The text of `.env.example`: each variable with what it does and its default, all switched off. */
export function environmentExample(): string {
  const lines = [
    '# Settings of the server. Every variable is optional for a trial; an empty one counts as unset.',
    '# Lengths of time are seconds, or a number with s, m, h or d. A secret (marked so) may instead stand in a file',
    '# that <NAME>_FILE names. Made by `node bin/countersign.mjs environment`; edit src/platform/config/config.schema.ts.',
  ];
  let shown = '';
  for (const { name, section, meaning, default: fallback = '', unset, secret } of environmentVariables()) {
    if (section !== shown) lines.push('', `# ---- ${section} ----`, '');
    shown = section;
    lines.push(`# ${meaning}${secret ? ' Secret.' : ''}${unset ? ` Unset: ${unset}.` : ''}`, `#${name}=${fallback}`);
  }
  return `${lines.join('\n')}\n`;
}
