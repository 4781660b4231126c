interface Box {
  kind: string;
  x: number;
  y: number;
  width: number;
  height: number;
  title: string;
  words: string[];
}

// The empty line is for the links.
const CHAIN = { kind: 'chain', title: 'Audit chain', words: ['each entry seals', 'the one before', ''] };

const TEXT = `An agent calls the gate. The gate runs the action, asks a person, or blocks it.
Each of the three is written to the audit chain.`;

const box = ({ kind, x, y, width, height, title, words }: Box) => {
  const middle = x + width / 2;
  const top = y + height / 2 + 5 - words.length * 9;
  const lines = words.map((word, i) => `<text class="small" x="${middle}" y="${top + 19 + i * 15}">${word}</text>`);
  return `<g class="box ${kind}"><rect x="${x}" y="${y}" width="${width}" height="${height}" rx="12" />
<text x="${middle}" y="${top}">${title}</text>${lines.join('')}</g>`;
};

const flow = (tip: string, ...paths: string[]) =>
  paths.map((d) => `<path class="flow" d="${d}" marker-end="url(#${tip})" />`).join('\n');

const links = (x: number, y: number) => `<g class="links">${[0, 39, 78]
  .map((step) => `<rect x="${x + step}" y="${y}" width="32" height="14" rx="7" />`)
  .join('')}<path d="M${x + 26} ${y + 7}h19m20 0h19" /></g>`;

function picture(name: string, width: number, height: number, parts: string[]): string {
  return `<svg class="gate ${name}" viewBox="0 0 ${width} ${height}" role="img" aria-label="How the gate works">
<desc>${TEXT}</desc>
<defs><marker id="tip-${name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path class="tip" d="M0 0 8 4 0 8z" /></marker></defs>
${parts.join('\n')}
</svg>`;
}

const WIDE = picture('wide', 760, 250, [
  box({ kind: 'agent', x: 6, y: 93, width: 112, height: 64, title: 'Agent', words: ['wants to act'] }),
  box({ kind: 'strong', x: 178, y: 75, width: 128, height: 100, title: 'Gate', words: ['grant · policy', 'conditions'] }),
  box({ kind: 'run', x: 384, y: 14, width: 138, height: 60, title: 'Run', words: ['auto · notify'] }),
  box({ kind: 'ask', x: 384, y: 95, width: 138, height: 60, title: 'Ask a person', words: ['propose · escalate'] }),
  box({ kind: 'stop', x: 384, y: 176, width: 138, height: 60, title: 'Block', words: ['not granted · policy'] }),
  box({ ...CHAIN, x: 600, y: 71, width: 154, height: 108 }),
  links(622, 151),
  flow('tip-wide', 'M118 125h52', 'M306 105C345 95 340 44 376 44', 'M306 125h70', 'M306 145C345 155 340 206 376 206'),
  flow('tip-wide', 'M522 44C560 44 555 105 592 111', 'M522 125h70', 'M522 206C560 206 555 145 592 139'),
]);

const TALL = picture('tall', 340, 420, [
  box({ kind: 'agent', x: 110, y: 4, width: 120, height: 56, title: 'Agent', words: ['wants to act'] }),
  box({ kind: 'strong', x: 100, y: 96, width: 140, height: 84, title: 'Gate', words: ['grant · policy', 'conditions'] }),
  box({ kind: 'run', x: 4, y: 228, width: 92, height: 62, title: 'Run', words: ['auto', 'notify'] }),
  box({ kind: 'ask', x: 116, y: 228, width: 108, height: 62, title: 'Ask', words: ['propose', 'escalate'] }),
  box({ kind: 'stop', x: 244, y: 228, width: 92, height: 62, title: 'Block', words: ['not granted', 'policy'] }),
  box({ ...CHAIN, x: 80, y: 326, width: 180, height: 90 }),
  links(115, 394),
  flow('tip-tall', 'M170 60v28', 'M110 180C100 205 50 195 50 220', 'M170 180v40', 'M230 180C240 205 290 195 290 220'),
  flow('tip-tall', 'M50 290C50 320 110 300 120 318', 'M170 290v28', 'M290 290C290 320 230 300 220 318'),
]);

/** The service in one picture, in two forms of which the stylesheet shows one: wide, and tall for a phone. */
export const GATE_PICTURE = `${WIDE}\n${TALL}`;
