import type { JsonObject } from '../json.js';
import type { Message } from './message.js';
import { type Outline, outlineOf } from './outline.js';

/** Teams refuses a post over 28 KB; below this nothing around it matters. */
const BYTES_MAX = 24_000;
/** How many lines of the input are shown, at most, the first number that lets the card fit. */
const INPUT_LINES = [80, 30, 10, 0] as const;
const LINE = 240;

/**
 * An Adaptive Card 1.4 in the envelope of a Workflows webhook. What anybody wrote stands in text runs alone, which know no Markdown. Posted
 * cards can only open links, so the links lead to the page that decides.
 */
export function teamsCard(message: Message): JsonObject {
  const outline = outlineOf(message);
  const lines = outline.input === undefined ? [] : linesOf(outline.input);
  for (const most of INPUT_LINES) {
    const card = envelope(outline, lines.slice(0, most), most < lines.length);
    if (Buffer.byteLength(JSON.stringify(card)) < BYTES_MAX) return card;
  }
  throw new Error('A card without its input is always small enough: every text in it has a bound.');
}

function envelope(outline: Outline, input: readonly string[], isCut: boolean): JsonObject {
  const content = {
    type: 'AdaptiveCard',
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    version: '1.4',
    fallbackText: outline.title,
    msteams: { width: 'Full' },
    body: [
      ...(outline.isHigh ? [runs([{ text: 'High priority', weight: 'Bolder', color: 'Attention' }])] : []),
      runs([{ text: outline.title, weight: 'Bolder', size: 'Large' }]),
      ...outline.facts.map(([label, value], at) =>
        runs([{ text: `${label}: `, weight: 'Bolder' }, { text: value }], at === 0 ? 'Medium' : 'Small')),
      ...(outline.reasons.length === 0 ? [] : [runs([{ text: 'Why a person is asked', weight: 'Bolder' }], 'Medium')]),
      ...outline.reasons.map((reason) => runs([{ text: `• ${reason}` }], 'Small')),
      ...(input.length === 0 ? [] : [runs([{ text: 'It runs with', weight: 'Bolder' }], 'Medium')]),
      ...input.map((line) => runs([{ text: line, fontType: 'Monospace' }], 'None')),
      ...(isCut ? [runs([{ text: 'This is not all of it. The page shows the rest.', weight: 'Bolder' }], 'Small')] : []),
      runs([{ text: outline.reference, size: 'Small', isSubtle: true }], 'Medium'),
    ],
    actions: outline.links === undefined ? [] : [
      { type: 'Action.OpenUrl', title: 'Look, and approve', url: outline.links.approve },
      { type: 'Action.OpenUrl', title: 'Look, and reject', url: outline.links.reject },
    ],
  } satisfies JsonObject;
  return { type: 'message', attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }] };
}

function runs(inlines: readonly JsonObject[], spacing = 'Default'): JsonObject {
  return { type: 'RichTextBlock', spacing, inlines: inlines.map((run) => ({ type: 'TextRun', ...run })) };
}

/** Cards fold blanks at the begin of a line, and cut no long line. */
function linesOf(input: string): string[] {
  return input.split('\n').flatMap((line) => {
    const characters = Array.from(line.replace(/^ +/, (blanks) => '\u00a0'.repeat(blanks.length)));
    const parts = Math.max(1, Math.ceil(characters.length / LINE));
    return Array.from({ length: parts }, (_, part) => characters.slice(part * LINE, (part + 1) * LINE).join(''));
  });
}
