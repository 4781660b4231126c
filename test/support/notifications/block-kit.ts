import { isJsonObject, type JsonObject, type JsonValue } from '../../../src/domain/json.js';

/** Limits of Slack's Block Kit, as its reference states them. Lengths are in UTF-16 units, of the text as it is sent. */
const TEXT = 40_000;
const BLOCKS = 50;
const SECTION = 3_000;
const FIELD = 2_000;
const FIELDS = 10;
const HEADER = 150;
const CONTEXT_ELEMENTS = 10;
const ACTIONS = 25;
const BUTTON = 75;
const VALUE = 2_000;
const URL_LENGTH = 3_000;
const ID = 255;

/** What Slack would not take about a message; empty for one that it shows. */
export function blockKitFindings(message: JsonObject): string[] {
  const findings: string[] = [];
  const say = (at: string, what: string): void => void findings.push(`${at}: ${what}`);
  if (typeof message['text'] !== 'string' || message['text'] === '') say('text', 'is missing: notifications and screen readers take it');
  else if (message['text'].length > TEXT) say('text', `has ${message['text'].length} characters`);
  const { blocks = [] } = message;
  if (!Array.isArray(blocks)) return [...findings, 'blocks: are no list'];
  if (blocks.length > BLOCKS) say('blocks', `are ${blocks.length}`);
  const ids = blocks.flatMap((block) => (isJsonObject(block) && block['block_id'] !== undefined ? [block['block_id']] : []));
  if (new Set(ids).size !== ids.length) say('blocks', 'share a block_id');
  for (const [index, block] of blocks.entries()) {
    if (isJsonObject(block)) checkBlock(block, `blocks[${index}]`, say);
    else say(`blocks[${index}]`, 'is no object');
  }
  return findings;
}

type Say = (at: string, what: string) => void;

function checkBlock(block: JsonObject, at: string, say: Say): void {
  const id = block['block_id'];
  if (id !== undefined && (typeof id !== 'string' || id.length > ID)) say(at, 'has a bad block_id');
  switch (block['type']) {
    case 'divider':
      return onlyMembers(block, ['type', 'block_id'], at, say);
    case 'header':
      onlyMembers(block, ['type', 'block_id', 'text'], at, say);
      return checkText(block['text'], ['plain_text'], HEADER, `${at}.text`, say);
    case 'section': {
      onlyMembers(block, ['type', 'block_id', 'text', 'fields', 'accessory', 'expand'], at, say);
      if (block['text'] === undefined && block['fields'] === undefined) say(at, 'has neither text nor fields');
      if (block['text'] !== undefined) checkText(block['text'], ['plain_text', 'mrkdwn'], SECTION, `${at}.text`, say);
      return checkList(block['fields'] ?? [], FIELDS, `${at}.fields`, say, (field, where) =>
        checkText(field, ['plain_text', 'mrkdwn'], FIELD, where, say));
    }
    case 'context':
      onlyMembers(block, ['type', 'block_id', 'elements'], at, say);
      return checkList(block['elements'], CONTEXT_ELEMENTS, `${at}.elements`, say, (element, where) =>
        checkText(element, ['plain_text', 'mrkdwn'], SECTION, where, say));
    case 'actions': {
      onlyMembers(block, ['type', 'block_id', 'elements'], at, say);
      checkList(block['elements'], ACTIONS, `${at}.elements`, say, (element, where) => checkButton(element, where, say));
      const ids = (block['elements'] as JsonObject[] | undefined)?.map(({ action_id: action }) => action) ?? [];
      if (new Set(ids).size !== ids.length) say(at, 'has an action_id twice');
      return;
    }
    default:
      say(at, `is of an unknown type ${JSON.stringify(block['type'])}`);
  }
}

function checkButton(element: JsonValue, at: string, say: Say): void {
  if (!isJsonObject(element) || element['type'] !== 'button') return say(at, 'is no button');
  onlyMembers(element, ['type', 'action_id', 'text', 'value', 'url', 'style', 'accessibility_label', 'confirm'], at, say);
  checkText(element['text'], ['plain_text'], BUTTON, `${at}.text`, say);
  for (const [member, most] of [['action_id', ID], ['value', VALUE], ['url', URL_LENGTH], ['accessibility_label', BUTTON]] as const) {
    const value = element[member];
    const isFit = value === undefined || (typeof value === 'string' && value !== '' && value.length <= most);
    if (!isFit) say(`${at}.${member}`, 'is empty or too long');
  }
  if (element['url'] !== undefined && !URL.canParse(element['url'] as string)) say(`${at}.url`, 'is no address');
  if (element['style'] !== undefined && element['style'] !== 'primary' && element['style'] !== 'danger') say(`${at}.style`, 'is unknown');
}

function checkText(text: JsonValue | undefined, types: readonly string[], most: number, at: string, say: Say): void {
  if (!isJsonObject(text)) return say(at, 'is no text object');
  if (!types.includes(text['type'] as string)) say(at, `must not be ${JSON.stringify(text['type'])}`);
  onlyMembers(text, text['type'] === 'plain_text' ? ['type', 'text', 'emoji'] : ['type', 'text', 'verbatim'], at, say);
  const value = text['text'];
  if (typeof value !== 'string' || value === '') say(at, 'is empty');
  else if (value.length > most) say(at, `has ${value.length} characters, over ${most}`);
}

function checkList(list: JsonValue | undefined, most: number, at: string, say: Say, each: (one: JsonValue, at: string) => void): void {
  if (!Array.isArray(list)) return say(at, 'is no list');
  if (list.length > most) say(at, `has ${list.length} elements`);
  for (const [index, one] of list.entries()) each(one as JsonValue, `${at}[${index}]`);
}

function onlyMembers(object: JsonObject, known: readonly string[], at: string, say: Say): void {
  for (const name of Object.keys(object)) if (!known.includes(name)) say(at, `has an unknown member ${name}`);
}

/** Texts of a message that Slack reads as its markup. */
export function markupIn(value: JsonValue): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => markupIn(one as JsonValue));
  if (!isJsonObject(value)) return [];
  if (value['type'] === 'mrkdwn') return [value['text'] as string];
  return Object.values(value).flatMap((one) => (one === undefined ? [] : markupIn(one)));
}

/** What of a text in Slack's markup would call people or groups, or be a link: `<…>` means something there, and nothing else does. */
export function liveIn(markup: string): string[] {
  return [...markup.matchAll(/<([^>]*)>/g)].map(([, inner]) => inner!);
}
