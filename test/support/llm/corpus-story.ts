import { describe, expect, test } from '@jest/globals';
import { type CorpusLine, CORPUS_TERMS } from '../../../bench/pii/corpus.js';
import type { BuiltAgent } from '../builders/agents.js';
import { allSigned, download } from '../log/exports.js';
import { ROOT_KEY } from '../servers/test-run.js';
import { callWith, findableValues, ValueSearch, WIRE_PATH, type WireFamily } from './corpus-calls.js';
import { gatewayScene, LLM } from './gateway-scene.js';
import { postedStream } from './posted-stream.js';
import { says } from './vendor-answers.js';

const LINES_OF_A_CALL = 24;
/** Values of an organization's own list stand in its settings. */
const isNoTerm = (value: string) => !CORPUS_TERMS.some((term) => term.toLowerCase() === value.toLowerCase());
const FAMILIES: readonly WireFamily[] = ['openai', 'anthropic'];

/**
 * Lines of the corpus go through the gateway in every place that a text can stand in, whole and streamed; then their values are looked
 * for wherever a byte of them can have gone.
 */
export function corpusGoesThrough(all: readonly CorpusLine[]): void {
  const batches = Array.from({ length: Math.ceil(all.length / LINES_OF_A_CALL) }, (_, index) =>
    all.slice(index * LINES_OF_A_CALL, (index + 1) * LINES_OF_A_CALL));
  const values = findableValues(all);
  const search = new ValueSearch(values);
  const scene = gatewayScene({ LOG_LEVEL: 'debug', AUDIT_CHECKPOINT_SECONDS: '1' });
  const caller = (pii: object, hitlMode = 'auto') => scene.caller({ pii: { terms: CORPUS_TERMS, ...pii } }, { hitlMode });

  /** What the provider got since then. */
  const receivedSince = (before: number) => scene.provider.requests.slice(before).map(({ text }) => text).join('\n');

  async function sent(agent: BuiltAgent, family: WireFamily, lines: readonly CorpusLine[], headers = {}): Promise<void> {
    const body = callWith(family, lines);
    (await agent.client.post(`${LLM}/${WIRE_PATH[family]}`, body, { headers })).expect(200);
  }

  /** Every row of every table, as text. */
  async function dump(): Promise<string> {
    const tables = await scene.server.sql<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE'`);
    const texts: string[] = [];
    for (const { name } of tables) {
      const rows = await scene.server.sql<{ row: string }>(`select t::text as row from "${name}" t`);
      texts.push(...rows.map(({ row }) => row));
    }
    return texts.join('\n');
  }

  test('without the scan every value is seen to leave, so that a search can find it', async () => {
    const agent = await caller({});
    for (const family of FAMILIES) {
      for (const lines of batches) {
        const before = scene.provider.requests.length;
        await sent(agent, family, lines, { 'x-scan-pii': 'false' });
        expect(new Set(search.in(receivedSince(before)))).toEqual(new Set(findableValues(lines)));
      }
    }
  });

  describe('with the scan no value that it finds', () => {
    test.each(FAMILIES)('%s: reaches the provider, whole or streamed', async (family) => {
      const agent = await caller({});
      const before = scene.provider.requests.length;
      for (const lines of batches) {
        await sent(agent, family, lines);
        await postedStream(scene.server, agent, WIRE_PATH[family], callWith(family, lines));
      }
      expect(scene.provider.requests.length).toBe(before + batches.length * 2);
      expect(search.in(receivedSince(before))).toEqual([]);
    });

    test.each(FAMILIES)('%s: reaches a person who has to decide', async (family) => {
      const agent = await caller({}, 'propose');
      for (const lines of batches) {
        (await agent.client.post(`${LLM}/${WIRE_PATH[family]}`, callWith(family, lines))).expect(409);
      }
      const rows = await scene.server.sql<{ row: string }>('select r::text as row from hitl_requests r where agent_id = $1', [agent.id]);
      expect(rows).toHaveLength(batches.length);
      expect(search.in(rows.map(({ row }) => row).join('\n'))).toEqual([]);
    });

    test.each(FAMILIES)('%s: reaches a client from a model that says it, whole or streamed', async (family) => {
      const agent = await caller({ answers: 'redact' });
      const body = { model: family === 'openai' ? 'gpt-test' : 'claude-test', max_tokens: 9, messages: [{ role: 'user', content: 'who' }] };
      const texts: string[] = [];
      for (const [index, lines] of batches.entries()) {
        const said = says({
          text: lines[index % lines.length]!.text, piece: 1 + (index % 9),
          tools: Object.fromEntries(lines.map(({ text }, n) => [`note_${n}`, { text }])),
        });
        scene.provider.script(said, said);
        texts.push(JSON.stringify((await agent.client.post(`${LLM}/${WIRE_PATH[family]}`, body)).expect(200).body));
        texts.push(joined(await postedStream(scene.server, agent, WIRE_PATH[family], body)));
      }
      expect(search.in(texts.join('\n'))).toEqual([]);
    });

    test('is in the log, the database, or an export', async () => {
      await allSigned(scene.server);
      const { status, bytes } = await download(scene.server, ROOT_KEY, '/api/v1/audit/export');
      expect(status).toBe(200);
      const named = new ValueSearch(values.filter(isNoTerm));
      expect(named.in(bytes.toString('utf8'))).toEqual([]);
      expect(named.in(scene.server.output())).toEqual([]);
      expect(named.in(await dump())).toEqual([]);
    });
  });
}

/** What the pieces of a stream make together, tool by tool. */
function joined(stream: string): string {
  const texts = new Map<string, string>();
  const add = (place: string, text: unknown) => {
    if (typeof text === 'string') texts.set(place, (texts.get(place) ?? '') + text);
  };
  for (const [, data] of stream.matchAll(/^data: (\{.*\})$/gm)) {
    const { choices = [], delta, index } = JSON.parse(data!) as Chunk;
    add(`block ${index}`, delta?.text ?? delta?.partial_json);
    for (const { delta: piece } of choices) {
      add('content', piece.content);
      for (const call of piece.tool_calls ?? []) add(`call ${call.index}`, call.function.arguments);
    }
  }
  return [...texts.values()].join('\n');
}

interface Chunk {
  readonly index?: number;
  readonly delta?: { readonly text?: string; readonly partial_json?: string };
  readonly choices?: readonly { readonly delta: {
    readonly content?: string;
    readonly tool_calls?: readonly { readonly index: number; readonly function: { readonly arguments?: string } }[];
  } }[];
}
