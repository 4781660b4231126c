import { describe, expect, it } from '@jest/globals';
import { corpus } from '../../../../bench/pii/corpus.js';
import type { JsonValue } from '../../json.js';
import { scanCall } from '../scan-call.js';
import { scanText } from '../scan-text.js';
import { piiSettings } from '../settings.js';
import { scanBody } from './scan-body.js';
import type { ProviderFamily } from './structural-members.js';

const MAIL = 'anna@example.com';
const locations = (body: JsonValue, family: ProviderFamily) => scanBody(body, family).found.map(({ pointer }) => pointer);
const redacted = (body: JsonValue, family: ProviderFamily = 'openai') =>
  JSON.parse(scanCall({ body: JSON.stringify(body), family, settings: piiSettings({}) }).body) as JsonValue;

/** Whatever a member may be, and the value in it. */
const EVERYWHERE: Readonly<Record<ProviderFamily, JsonValue>> = {
  openai: {
    model: 'gpt-5',
    messages: [
      { role: 'system', content: MAIL, name: MAIL },
      { role: 'user', content: [{ type: 'text', text: MAIL }, { type: 'unknown_part', deep: { er: [MAIL] } }] },
      { role: 'assistant', tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'send',
        arguments: JSON.stringify({ to: [MAIL] }) } }] },
      { role: 'assistant', function_call: { name: 'send', arguments: JSON.stringify({ [MAIL]: 1 }) } },
      { role: 'tool', tool_call_id: 'call_1', content: MAIL },
    ],
    tools: [{ type: 'function', function: { name: 'send', description: MAIL, parameters: { properties: { to: { description: MAIL } } } } }],
    metadata: { customer: MAIL },
    user: MAIL,
    stop: [MAIL],
    [`x ${MAIL}`]: true,
  },
  anthropic: {
    model: 'claude-5', max_tokens: 10,
    system: [{ type: 'text', text: MAIL }],
    messages: [
      { role: 'user', content: MAIL },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'send', input: { to: MAIL, [MAIL]: 1 } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: MAIL }] }] },
      { role: 'user', content: [{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: MAIL }, title: MAIL }] },
    ],
    tools: [{ name: 'send', description: MAIL, input_schema: { properties: { to: { description: MAIL, examples: [MAIL] } } } }],
    metadata: { user_id: MAIL },
    future_member: [{ note: MAIL }],
  },
};

describe('the scan of a body', () => {
  it.each(['openai', 'anthropic'] as const)('reads every text of %s but structural members: nothing of the value is left', (family) => {
    const call = scanCall({ body: JSON.stringify(EVERYWHERE[family]), family, settings: piiSettings({}) });
    expect(call.body).not.toContain(MAIL);
    expect(call.counts.EMAIL_ADDRESS).toBe(JSON.stringify(EVERYWHERE[family]).split(MAIL).length - 1);
  });

  it('leaves what the format gives meaning to as it is', () => {
    const body = {
      model: MAIL, messages: [{ role: MAIL, tool_call_id: MAIL, content: [{ type: MAIL }], tool_calls: [{ id: MAIL,
        function: { name: MAIL } }] }],
      tools: [{ type: MAIL, function: { name: MAIL, parameters: { required: [MAIL], properties: { [MAIL]: { type: 'string' } } } } }],
      tool_choice: { function: { name: MAIL } },
    };
    expect(locations(body, 'openai')).toEqual([]);
    expect(locations({ model: MAIL, messages: [{ role: 'user', content: [{ type: 'tool_use', id: MAIL, name: MAIL }] }],
      tool_choice: { name: MAIL } },
      'anthropic')).toEqual([]);
  });

  it('says where in the body a text stands, and takes the name of its member for context', () => {
    const { found } = scanBody({ messages: [{ role: 'user', content: 'x' }], customer: { 'date/OfBirth': '1985-03-12',
      pesel: 44051401359 } }, 'openai');
    expect(found.map(({ pointer, kind, findings }) => [pointer, kind, findings[0]!.type])).toEqual([
      ['/customer/date~1OfBirth', 'text', 'DATE_OF_BIRTH'], ['/customer/pesel', 'number', 'PL_PESEL'],
    ]);
  });

  it('reads arguments as the JSON that they hold, and leaves the rest of it as it was written', () => {
    const body = (json: string) => ({ messages: [{ role: 'assistant', tool_calls: [{ function: { name: 'send', arguments: json } }] }] });
    const written = '{ "to" : "anna\\u0040example.com",\n "big": 12345678901234567890, "card":4111111111111111, "note":"a\\tb" }';
    expect(redacted(body(written))).toEqual(
      body('{ "to" : "<EMAIL_ADDRESS>",\n "big": 12345678901234567890, "card":"<CREDIT_CARD>", "note":"a\\tb" }'));
    expect(redacted(body('no JSON: anna@example.com'))).toEqual(body('no JSON: <EMAIL_ADDRESS>'));
  });

  it('keeps both values of members whose names become the same', () => {
    expect(redacted({ messages: [], data: { 'anna@example.com': 1, 'bea@example.com': 2, '<EMAIL_ADDRESS>': 3 } })).toEqual(
      { messages: [], data: { '<EMAIL_ADDRESS>': 1, '<EMAIL_ADDRESS> 2': 2, '<EMAIL_ADDRESS> 3': 3 } });
  });

  it('counts images, sound and files, reads what stands beside them, and leaves their bytes', () => {
    const bytes = `data:image/png;base64,${Buffer.from(MAIL.repeat(9)).toString('base64')}`;
    const openai: JsonValue = { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: bytes } },
      { type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } }, { type: 'file', file: { file_data: bytes,
        filename: MAIL } }] }] };
    expect(scanBody(openai, 'openai')).toMatchObject({ unscanned: 3, found: [{ pointer: '/messages/0/content/2/file/filename' }] });
    const anthropic: JsonValue = { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'base64', data: 'QUJD' } },
      { type: 'document', source: { type: 'url', url: `https://example.com/?to=${MAIL}` } }] }] };
    expect(scanBody(anthropic, 'anthropic')).toMatchObject({ unscanned: 2, found: [{ pointer: '/messages/0/content/1/source/url' }] });
  });

  it('leaves nothing of the corpus in prompts, arguments and results', () => {
    for (const half of ['tuned', 'held-out'] as const) {
      for (const { text } of corpus(half)) {
        const values = scanText(text).map(({ start, end }) => text.slice(start, end)).filter((value) => text.split(value).length === 2);
        const body = { messages: [{ role: 'user', content: text }, { role: 'tool', tool_call_id: 'c', content: [{ type: 'text', text }] },
          { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f',
            arguments: JSON.stringify({ text }) } }] }] };
        const sent = scanCall({ body: JSON.stringify(body), family: 'openai', settings: piiSettings({}) }).body;
        for (const value of values) expect(sent).not.toContain(JSON.stringify(value).slice(1, -1));
      }
    }
  });
});
