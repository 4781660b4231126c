import { SECTIONS, docOf } from './config.schema.js';

/** The text of `.env.example`: each variable with what it does and its default, all switched off. */
export function environmentExample(): string {
  const lines = [
    '# Settings of the server. Every variable is optional for a trial; an empty one counts as unset.',
    '# Lengths of time are seconds, or a number with s, m, h or d. A secret (marked so) may instead stand in a file',
    '# that <NAME>_FILE names. Made by `node bin/countersign.mjs environment`; edit src/platform/config/config.schema.ts.',
  ];
  for (const { title, shape } of SECTIONS) {
    lines.push('', `# ---- ${title} ----`, '');
    for (const [name, type] of Object.entries<object>(shape)) {
      const { doc, fallback, otherwise, secret } = docOf(type);
      const when = otherwise ?? (fallback === '' ? 'none' : undefined);
      lines.push(`# ${doc}${secret ? ' Secret.' : ''}${when ? ` Unset: ${when}.` : ''}`, `#${name}=${fallback ?? ''}`);
    }
  }
  return `${lines.join('\n')}\n`;
}
