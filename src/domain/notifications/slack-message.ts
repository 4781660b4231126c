import type { JsonObject } from '../json.js';
import type { Message } from './message.js';
import { type Outline, outlineOf } from './outline.js';
import { cut, oneLine } from './plain-text.js';

/** By which an interaction says what was pressed. Links come back too, and decide nothing. */
export const SLACK_ACTIONS = { approve: 'approve', reject: 'reject', openApprove: 'open_approve', openReject: 'open_reject' } as const;

/** What a button carries: the request, and the digest of what its message showed. */
export interface SlackButtonValue {
  readonly request: string;
  readonly digest: string;
}

// Limits of Block Kit, less what stands around a text.
const HEADER = 150;
const SECTION = 2_900;
/** What is longer than these sections fills the channel: whoever decides reads it on the page. */
const INPUT_SECTIONS = 3;
/** Five characters may stand for one. */
const VALUE = 520;

/**
 * A message in Block Kit. Nothing in it that anybody wrote is markup: each value stands as code, in which `&`, `<` and `>` are escaped and
 * backquotes are named.
 *
 * @param canCallBack whether what Slack calls back can be verified; without that, buttons are links
 */
export function slackMessage(message: Message, canCallBack: boolean): JsonObject {
  const outline = outlineOf(message);
  const input = outline.input === undefined ? undefined : inputSections(outline.input);
  const shown = input?.isWhole ?? true;
  return envelope(outline, [
    ...sections(outline.facts.map(([label, value]) => `*${label}:* ${code(value)}`)),
    ...(outline.reasons.length === 0 ? [] : sections(['*Why a person is asked:*', ...outline.reasons.map((one) => `• ${code(one)}`)])),
    ...(input === undefined ? [] : [section('*It runs with:*'), ...input.blocks]),
    ...(shown ? [] : [section('*This is not all of it.* The page shows the rest.')]),
    { type: 'context', elements: [markup(code(outline.reference))] },
    ...(message.about !== 'request' || outline.links === undefined ? []
      : [buttons(message.request, outline.links, canCallBack, shown)]),
  ]);
}

/** In place of a message whose request has been asked about again below. */
export function slackAskedAgain(message: Message): JsonObject {
  return envelope({ ...outlineOf(message), isHigh: false }, [section('_Asked again below._')]);
}

function envelope(outline: Outline, blocks: JsonObject[]): JsonObject {
  const title = `${outline.isHigh ? 'High priority: ' : ''}${outline.title}`;
  return {
    // What notifications and screen readers take.
    text: escaped(oneLine([title, ...outline.facts.slice(0, 1).map(([, value]) => value)].join(', '), 500)),
    mrkdwn: false, unfurl_links: false, unfurl_media: false,
    blocks: [{ type: 'header', text: { type: 'plain_text', text: oneLine(title, HEADER), emoji: false } }, ...blocks],
  };
}

function buttons(
  { id, digest }: { readonly id: string; readonly digest: string }, links: { readonly approve: string; readonly reject: string },
  canCallBack: boolean, isWhole: boolean,
): JsonObject {
  const value = JSON.stringify({ request: id, digest } satisfies SlackButtonValue);
  const button = (action: string, text: string, more: JsonObject): JsonObject =>
    ({ type: 'button', action_id: action, text: { type: 'plain_text', text, emoji: false }, ...more });
  return {
    type: 'actions', block_id: 'decide',
    elements: [
      canCallBack && isWhole
        ? button(SLACK_ACTIONS.approve, 'Approve', { style: 'primary', value })
        : button(SLACK_ACTIONS.openApprove, 'Look, and approve', { style: 'primary', url: links.approve }),
      canCallBack
        ? button(SLACK_ACTIONS.reject, 'Reject', { style: 'danger', value })
        : button(SLACK_ACTIONS.openReject, 'Look, and reject', { style: 'danger', url: links.reject }),
    ],
  };
}

/** As many sections as the lines need. */
function sections(lines: readonly string[]): JsonObject[] {
  const texts: string[] = [];
  for (const line of lines) {
    const last = texts.at(-1);
    if (last !== undefined && last.length + 1 + line.length <= SECTION) texts[texts.length - 1] = `${last}\n${line}`;
    else texts.push(line);
  }
  return texts.map(section);
}

/** JSON may say a backquote by an escape, so nothing ends the block of code before its end. */
function inputSections(input: string): { blocks: JsonObject[]; isWhole: boolean } {
  const parts = [''];
  for (const character of input.replaceAll('`', String.raw`\u0060`)) {
    const next = escaped(character);
    if (parts.at(-1)!.length + next.length <= SECTION) parts[parts.length - 1] += next;
    else if (parts.length === INPUT_SECTIONS) return { blocks: parts.map(block), isWhole: false };
    else parts.push(next);
  }
  return { blocks: parts.map(block), isWhole: true };
}

const block = (part: string): JsonObject => section(`\`\`\`\n${part}\n\`\`\``);

const section = (text: string): JsonObject => ({ type: 'section', text: markup(text) });

/** `verbatim`: Slack makes no links and mentions of its own out of the text. */
const markup = (text: string): JsonObject => ({ type: 'mrkdwn', text, verbatim: true });

/** Of a code in one line nothing but a backquote is markup. */
const code = (value: string): string => (value === '' ? '` `' : `\`${escaped(cut(value.replaceAll('`', '⟦U+0060⟧'), VALUE))}\``);

/** Slack's control characters (its guide to formatting text): no others begin a mention or a link. */
function escaped(text: string): string {
  return text.replace(/[&<>]/g, (character) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[character]!);
}
