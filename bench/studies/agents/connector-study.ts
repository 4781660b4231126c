// What a secret costs an `http` connector, and what a tool of an MCP server costs instead of it.
import { post } from '../../callers.js';
import type { Stage } from '../../stage.js';
import type { Study } from '../../study.js';
import { callsOf, inTurn, ratios, ratioText, sidesTable } from './in-turn.js';

const AGENTS = 200;
const PLAIN = 'bench.plain';
const BODY = { order: '{input.query}', quantity: '{input.quantity}' };

/** The plain one, beside one that shows a secret, or one that calls a tool. */
const SECRET = { key: 'secret', capability: 'bench.secret', name: 'with a secret', goal: 0.95 } as const;
const MCP = { key: 'mcp', capability: 'bench.tool', name: 'mcp connector', goal: 0.6 } as const;

export const secretStudy: Study = study(SECRET, async (stage) => {
  const { url, rootKey } = stage.governed;
  const response = await fetch(`${url}/api/v1/secrets/bench-token`, {
    method: 'PUT', headers: { authorization: `Bearer ${rootKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ value: 'a-token-of-the-receivers-0123456789', origins: [new URL(stage.receiverUrl).origin] }),
  });
  if (!response.ok) throw new Error(`PUT /secrets answered ${response.status}: ${await response.text()}`);
  return { type: 'http', method: 'POST', url: stage.receiverUrl, body: BODY, headers: { authorization: 'Bearer {secrets.bench-token}' } };
});

export const mcpStudy: Study = study(MCP, async ({ receiverUrl }) => ({
  type: 'mcp', url: new URL('/mcp', receiverUrl).href, tool: 'order',
}));

function study({ key, capability, name, goal }: typeof SECRET | typeof MCP, connectorOf: (stage: Stage) => Promise<object>): Study {
  return {
    key,
    onlyWhenNamed: true,
    run: async (context) => {
      const { stage, progress, options } = context;
      progress.begin(`A connector, ${name}: agents`, 1);
      const plain = { type: 'http', method: 'POST', url: stage.receiverUrl, body: BODY };
      const plainName = `${PLAIN}-${key}`;
      await define(stage, plainName, plain);
      await define(stage, capability, await connectorOf(stage));
      const tokens = await agentsWith(stage, [plainName, capability], AGENTS, (share) => progress.to(share));
      const count = Math.ceil(options.pairs / 2);
      progress.begin(`A connector, ${name}`, 2 * (count + 1));
      const sides = { it: callsOf(context, capability, tokens), plain: callsOf(context, plainName, tokens) };
      const rounds = await inTurn(sides, count, () => progress.step());
      const found = ratios(rounds, 'it', 'plain');
      const goals = [{ what: `a connector, ${name}, to the plain one`, value: found.ratio, wanted: goal }];
      const text = [
        '', `  Execution through a connector, ${name}: ${ratioText(found)} the plain http connector`, '',
        ...sidesTable(rounds, { it: name, plain: 'plain' }), '',
      ].join('\n');
      return { text, values: { figure: key, ...found, rounds }, goals };
    },
  };
}

export const define = (stage: Stage, name: string, connector: object) =>
  post(stage, '/api/v1/capabilities', { name, description: 'For a benchmark', defaultHitlMode: 'auto', connector });

/** Tokens of new agents that hold these capabilities. */
export async function agentsWith(
  stage: Stage, capabilities: readonly string[], count: number, progress: (share: number) => void,
): Promise<string[]> {
  const tokens: string[] = [];
  const grants = capabilities.map((capability) => ({ capability }));
  while (tokens.length < count) {
    const name = `${capabilities.at(-1)} ${tokens.length}`;
    tokens.push((await post<{ token: string }>(stage, '/api/v1/agents', { name, grants })).token);
    progress(tokens.length / count);
  }
  return tokens;
}

/** The agent that a token is of. */
export const agentIdOf = (token: string): string =>
  (JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { sub: string }).sub;
