import { describe, expect, it } from '@jest/globals';
import { corpus } from '../../../../bench/pii/corpus.js';
import { RedactingJsonStream } from '../answers/redacting-json-stream.js';
import type { JsonObject, JsonValue } from '../../json.js';
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

  it('leaves names and ids that the format gives meaning to, and reads what stands there and is none', () => {
    const body = (word: string) => ({
      model: word, messages: [{ role: word, tool_call_id: word, content: [{ type: word }], tool_calls: [{ id: word,
        function: { name: word } }] }],
      tools: [{ type: word, function: { name: word, parameters: { required: [word], properties: { [word]: { type: 'string' } } } } }],
      tool_choice: { type: 'function', function: { name: word } },
    });
    const blocks = (word: string) => ({ model: word, messages: [{ role: 'user', content: [{ type: 'tool_use', id: word, name: word }] }],
      tool_choice: { name: word }, container: word });
    for (const name of ['send_mail-2', 'call_4111111111111111', 'gpt-4o:2024/05']) {
      expect([locations(body(name), 'openai'), locations(blocks(name), 'anthropic')]).toEqual([[], []]);
    }
    expect(redacted(body(MAIL))).toEqual(body('<EMAIL_ADDRESS>'));
    expect(redacted(blocks(MAIL), 'anthropic')).toEqual(blocks('<EMAIL_ADDRESS>'));
  });

  const KEY = 'sk_live_4eC39HqLyjWDarjtT1zdp7dc';
  const NUMBER = 'DE89370400440532013000';
  it('reads names of members that the format does not have, and leaves identifiers', () => {
    const body = (iban: string, key: string): JsonObject => ({ model: 'm', messages: [], [iban]: 1, temperature: 1, dateOfBirth: 1,
      tools: [{ [key]: 1, function: { name: 'f', [iban]: 2, parameters: { properties: { [key]: {}, [iban]: {}, dateOfBirth: {},
        password: { oauth2_id: 1 } } } } }] });
    expect(redacted(body(NUMBER, KEY))).toEqual(body('<IBAN_CODE>', '<SECRET>'));
    const call = { body: JSON.stringify(body('x', 'y')), family: 'openai' as const,
      settings: piiSettings({ terms: ['temperature', 'dateOfBirth'] }) };
    expect(scanCall(call).counts).toEqual({});
    const named = { messages: [], data: { password: { oauth2_id: 1 }, tokens: { session1token: { 'auth0-2': 1 } } } };
    expect(redacted(named)).toEqual(named);
  });

  it.each([[NUMBER, '<IBAN_CODE>'], [`gpt-${NUMBER}`, 'gpt-<IBAN_CODE>'], [KEY, '<SECRET>'], ['4111111111111111', '<CREDIT_CARD>'],
    ['511-94-7361', '<US_SSN>']])('reads in names and ids of the format what is sure: %s', (word, shown) => {
    const openai = (name: string) => ({ model: name, models: [name], messages: [{ role: name, tool_call_id: name, content: 'x' }],
      tools: [{ type: name, function: { name, parameters: { required: [name], pattern: name, format: name } } }] });
    const anthropic = (name: string) => ({ model: name, messages: [{ role: 'user', content: [{ type: 'text', text: 'x', signature: name,
      id: name, name }] }] });
    expect(redacted(openai(word))).toEqual(openai(shown));
    expect(redacted(anthropic(word), 'anthropic')).toEqual(anthropic(shown));
    expect(redacted({ messages: [], seed: 4111111111111111, max_tokens: 1234567890123456 })).toEqual(
      { messages: [], seed: '<CREDIT_CARD>', max_tokens: 1234567890123456 });
  });

  const messages = [{ role: 'user', content: 'x' }];
  const known: readonly (readonly [ProviderFamily, JsonObject])[] = [
    ['openai', { messages, tool_choice: { type: 'function', function: { name: 'f', note: MAIL } } }],
    ['openai', { messages, stream_options: { include_usage: true, tag: MAIL } }],
    ['openai', { messages, audio: { voice: MAIL } }],
    ['openai', { messages, tools: [{ function: { parameters: { properties: { [MAIL]: { type: 'string' } } } } }] }],
    ['openai', { messages, tools: [{ function: { parameters: { properties: { n: { pesel: 44051401359, note: MAIL } } } } }] }],
    ['openai', { messages: [{ role: 'assistant', tool_calls: [{ type: 'custom', custom: { name: 'f', input: `to ${MAIL}` } }] }] }],
    ['anthropic', { messages, container: { id: 'c', note: MAIL } }],
    ['anthropic', { messages, thinking: { type: 'enabled', note: MAIL } }],
    ['anthropic', { messages, cache_control: { type: 'ephemeral', note: MAIL } }],
    ['anthropic', { messages: [{ role: 'user', content: [{ type: 'text', text: 'x', cache_control: { ttl: MAIL } }] }] }],
    ['anthropic', { messages: [{ role: 'user', content: [{ type: 'later', data: MAIL }] }] }],
  ];
  it.each(known)('%s: reads texts inside of members that it knows: %j', (family, body) => {
    expect(JSON.stringify(redacted(body, family))).not.toMatch(/anna@|44051401359/);
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

  const BYTES = Buffer.from(`%PDF-1.7 ${MAIL} `.repeat(20)).toString('base64');
  const user = (...content: JsonValue[]) => [{ role: 'user', content }];
  const text = { type: 'text', text: 'x' };
  const unread: readonly (readonly [ProviderFamily, JsonValue])[] = [
    ['openai', user({ type: 'video_url', video_url: { url: 'https://example.com/v' } })],
    ['openai', user({ type: 'audio_url', audio_url: { url: 'https://example.com/a' } })],
    ['openai', user({ image_url: { url: 'https://example.com/i' } })],
    ['openai', user({ type: 'of_tomorrow', text: 'x' })],
    ['openai', user({ ...text, image: 'https://example.com/i' })],
    ['openai', [{ role: 'user', content: 'x', images: ['QUJD'] }]],
    ['openai', user({ type: 'text', text: BYTES })],
    ['openai', user({ type: 'text', text: BYTES.replace(/.{48}/g, '$&\n') })],
    ['openai', user({ type: 'text', text: `Read this: ${BYTES} please` })],
    ['openai', user({ type: 'text', text: `Read this:\n${BYTES.replace(/.{48}/g, '$&\n')}` })],
    ['openai', user({ type: 'text', text: 'see data:image/png;base64,QUJD' })],
    ['openai', user({ type: 'text', text: BYTES.replace(/.{76}/g, '$&\r\n') })],
    ['openai', [{ role: 'tool', tool_call_id: 'c', content: JSON.stringify({ screenshot: BYTES }) }]],
    ['anthropic', user({ ...text, data: 'QUJD' })],
    ['anthropic', user({ type: 'document',
      source: { type: 'content', content: [text, { type: 'image', source: { type: 'url', url: 'u' } }] } })],
    ['anthropic', user({ type: 'document', source: { type: 'file', file_id: 'f' } })],
    ['anthropic', user({ type: 'document', source: { data: 'QUJD' } })],
    ['anthropic', user({ type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source: { type: 'base64', data: BYTES } }] })],
    ['anthropic', user({ type: 'web_fetch_tool_result', tool_use_id: 't', content: { type: 'web_fetch_result', url: 'https://example.com',
      content: { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: BYTES } } } })],
  ];
  it.each(unread)('%s: counts what is not known to be text: %j', (family, parts) => {
    expect(scanBody({ messages: parts }, family).unscanned).toBe(1);
  });

  const read: readonly (readonly [ProviderFamily, JsonValue])[] = [
    ['openai', [{ role: 'assistant', content: [text, { type: 'refusal', refusal: 'no' }], name: 'a', audio: { id: 'audio_1' } }]],
    ['openai', user({ type: 'text', text: 'a1B2'.repeat(31) }, { type: 'text', text: `${BYTES} in words`.replaceAll('A', ' ') })],
    ['anthropic', user({ type: 'document', title: 't', source: { type: 'text', media_type: 'text/plain', data: 'x' } })],
    ['anthropic', user({ type: 'document', source: { type: 'content', content: [text] } })],
    ['anthropic', user({ type: 'search_result', source: 'https://example.com', title: 't', content: [text] })],
    ['anthropic', [{ role: 'assistant', content: [{ type: 'thinking', thinking: 'x', signature: BYTES },
      { type: 'redacted_thinking', data: BYTES }, { type: 'tool_use', id: 'i', name: 'f', input: { type: 'image', url: 'x' } },
      { ...text, citations: [{ type: 'web_search_result_location', cited_text: 'x', url: 'u', title: 't', encrypted_index: BYTES }] }] }]],
    ['anthropic', user({ type: 'web_search_tool_result', tool_use_id: 't', content: [{ type: 'web_search_result', url: 'u', title: 't',
      encrypted_content: BYTES, page_age: null }] })],
  ];
  it.each(read)('%s: does not count what it reads, nor what a vendor has sealed: %j', (family, parts) => {
    expect(scanBody({ messages: parts }, family).unscanned).toBe(0);
  });

  it('reads results of tools that are JSON as JSON, in JSON, too', () => {
    const result = (content: string, family: ProviderFamily) => family === 'openai'
      ? { messages: [{ role: 'tool', tool_call_id: 'c', content }] }
      : { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'text', text: content }] }] }] };
    const inner = JSON.stringify({ to: `Hi\n${MAIL}`, card: 4111111111111111 });
    const shown = JSON.stringify({ to: 'Hi\n<EMAIL_ADDRESS>', card: '<CREDIT_CARD>' });
    for (const family of ['openai', 'anthropic'] as const) {
      expect(redacted(result(inner.replace('@', '\\u0040'), family), family)).toEqual(result(shown, family));
      expect(redacted(result(`${inner}\n\n${inner}\n`, family), family)).toEqual(result(`${shown}\n\n${shown}\n`, family));
      expect(redacted(result(JSON.stringify([inner]), family), family)).toEqual(result(JSON.stringify([shown]), family));
      expect(redacted(result(JSON.stringify(`Hi\n${MAIL}`), family), family)).toEqual(result('"Hi\\n<EMAIL_ADDRESS>"', family));
    }
  });

  it.each([
    ['{"card":{"number":"4111111111111111"}}', '{"card":{"number":"<CREDIT_CARD>"}}'],
    ['{"ssn":{"value":"536228726"},"phone":{"home":"030 901820"},"born":{"on":"1985-03-12"}}',
      '{"ssn":{"value":"<US_SSN>"},"phone":{"home":"<PHONE_NUMBER>"},"born":{"on":"<DATE_OF_BIRTH>"}}'],
    ['{"credit_card":{"number":"5555555555554444"},"date_of_birth":{"value":"1985-03-12"},"password":{"new":"hunter22"}}',
      '{"credit_card":{"number":"<CREDIT_CARD>"},"date_of_birth":{"value":"<DATE_OF_BIRTH>"},"password":{"new":"<SECRET>"}}'],
    ['[{"name":"card","value":"4111111111111111"}]', '[{"name":"card","value":"<CREDIT_CARD>"}]'],
    ['{"field":"ssn","v":"536228726"}\n{"field":"sku","v":"536228726"}', '{"field":"ssn","v":"<US_SSN>"}\n{"field":"sku","v":"536228726"}'],
    ['{"question":"What is your SSN?","answer":"536228726"}', '{"question":"What is your SSN?","answer":"<US_SSN>"}'],
    ['["card",["visa",{"4111111111111111":4111111111111111}]]', '["card",["visa",{"<CREDIT_CARD>":"<CREDIT_CARD>"}]]'],
    ['{"card":{"name":"x"},"n":4111111111111111,"card order":{"n":4111111111111111},"title":"Forgot password","id":"ticket-22"}',
      '{"card":{"name":"x"},"n":4111111111111111,"card order":{"n":4111111111111111},"title":"Forgot password","id":"ticket-22"}'],
  ])('takes the names around a value and the short texts before it for context: %s', (json, shown) => {
    const called = (text: string) => ({ messages: [{ role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: text } }] }] });
    expect(redacted(called(json))).toEqual(called(shown));
    if (json.includes('\n')) return;
    const used = (input: JsonValue) => ({ messages: [{ role: 'assistant', content: [{ type: 'tool_use', id: 'i', name: 'f', input }] }] });
    expect(redacted(used(JSON.parse(json) as JsonValue), 'anthropic')).toEqual(used(JSON.parse(shown) as JsonValue));
    const stream = new RedactingJsonStream();
    expect([...json].map((piece) => stream.push(piece)).join('') + stream.end()).toBe(shown);
  });

  it('reads behind escapes where a text is no JSON, and gives the value its own token', () => {
    const called = (json: string) => ({ messages: [{ role: 'assistant', tool_calls: [{ function: { name: 'send', arguments: json } }] }] });
    const cut = '{"to":"Hi\\nanna\\u0040example.com","cc":"\\\\u0061nna\\\\u0040example.com bea@example.com';
    expect(redacted(called(cut))).toEqual(called('{"to":"Hi\\n<EMAIL_ADDRESS>","cc":"<EMAIL_ADDRESS> <EMAIL_ADDRESS>'));
    const lines = scanCall({ body: JSON.stringify(called(`${cut}\\nanna@example.com`)), family: 'openai',
      settings: piiSettings({ action: 'tokenize' }) });
    expect(lines.tokens).toEqual([['<EMAIL_ADDRESS_1>', MAIL], ['<EMAIL_ADDRESS_2>', 'bea@example.com']]);
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
