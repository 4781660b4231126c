import type { BuiltAgent } from '../builders/agents.js';
import type { TestServer } from '../servers/server.js';

/** A streamed call, read to its end. */
export async function postedStream(server: TestServer, { token }: Pick<BuiltAgent, 'token'>, path: string, body: object): Promise<string> {
  const response = await fetch(`${server.url}/api/v1/llm/${path}`, {
    method: 'POST', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...body, stream: true }),
  });
  return response.text();
}

interface Delta {
  readonly content?: string;
  readonly tool_calls?: readonly { readonly function: { readonly arguments?: string } }[];
  readonly text?: string;
  readonly partial_json?: string;
}

/** What a client makes of a stream: its text, and the arguments of its tools. @throws where an event is no JSON */
export function textOfStream(family: 'openai' | 'anthropic', stream: string): { text: string; json: string } {
  const events = [...stream.matchAll(/^data: (\{.*\})$/gm)].map(([, data]) => JSON.parse(data!) as Record<string, unknown>);
  const deltas = events.flatMap((event): Delta[] => {
    if (family === 'anthropic') return event.type === 'content_block_delta' ? [event.delta as Delta] : [];
    return (event.choices as { delta: Delta }[] | undefined)?.map(({ delta }) => delta) ?? [];
  });
  return {
    text: deltas.map(({ content, text }) => content ?? text ?? '').join(''),
    json: deltas.map(({ tool_calls: calls, partial_json: json }) =>
      json ?? calls?.map((call) => call.function.arguments ?? '').join('') ?? '').join(''),
  };
}
