import { randomBytes } from 'node:crypto';
import type { JsonObject } from '../src/domain/json.js';
import type { Answer, Api } from './api.js';

/** What the agent may do here, by the names that the capabilities have on this server. */
export interface Names {
  readonly search: string;
  readonly mail: string;
  readonly order: string;
}

export interface Setting {
  readonly names: Names;
  readonly agentId: string;
  readonly agentName: string;
  /** The agent itself, by its token. */
  readonly agent: Api;
  /** Whether the server makes the calls to the shop; else the gate's answer is the agent's licence to make them. */
  readonly connected: boolean;
}

interface SettingOptions {
  readonly root: Api;
  /** Address of the shop outside, or undefined where the server could not reach it. */
  readonly shopUrl: string | undefined;
  /** On somebody's server the names must be nobody else's. */
  readonly onYourServer: boolean;
  /** Called for each thing that was made, with what unmakes it. */
  readonly onMade: (unmake: (root: Api) => Promise<void>) => void;
}

export const ORDER_ASKS_ABOVE = 500;
export const ORDER_BLOCKS_ABOVE = 10_000;
/** Seconds that a person has. */
const WINDOW = 300;

/**
 * Defines three capabilities and registers the agent that holds them. They are capabilities of the demo's own, since a
 * connector laid over `email.send` would lead other agents' mails here too.
 */
export async function prepareSetting(options: SettingOptions): Promise<Setting> {
  const { root, onYourServer, onMade } = options;
  const suffix = randomBytes(3).toString('hex');
  const names: Names = onYourServer
    ? { search: `demo-${suffix}.search`, mail: `demo-${suffix}.mail`, order: `demo-${suffix}.order` }
    : { search: 'shop.search', mail: 'mail.send', order: 'shop.order' };
  const connected = await defineAll(options, names);

  const agentName = onYourServer ? `purchasing-demo-${suffix}` : 'purchasing';
  const { agent, token } = await root.expect<{ agent: { id: string }; token: string }>(201, 'POST', '/api/v1/agents', {
    name: agentName,
    description: 'Buys steel. Made by npm run demo.',
    riskLevel: 'limited',
    grants: [
      { capability: names.search, hitlMode: 'auto' },
      { capability: names.mail, hitlMode: 'propose', hitlTimeoutSeconds: WINDOW },
      {
        capability: names.order,
        hitlMode: 'auto',
        hitlTimeoutSeconds: WINDOW,
        conditions: [
          condition(ORDER_ASKS_ABOVE, 'propose', `above EUR ${ORDER_ASKS_ABOVE} a person decides`),
          condition(ORDER_BLOCKS_ABOVE, 'block', 'nobody buys that much by machine'),
        ],
      },
      { capability: 'finance.payment', hitlMode: 'auto', hitlTimeoutSeconds: WINDOW },
    ],
  });
  onMade(async (late) => void (await late.send('DELETE', `/api/v1/agents/${agent.id}`)));
  return { names, agentId: agent.id, agentName, agent: root.as(token), connected };
}

async function defineAll({ root, shopUrl, onMade }: SettingOptions, names: Names): Promise<boolean> {
  let reach = shopUrl;
  for (const definition of definitions(names, shopUrl ?? '')) {
    const { connector, ...plain } = definition;
    let answer = await root.send('POST', '/api/v1/capabilities', reach === undefined ? plain : { ...plain, connector });
    if (answer.status === 422 && code(answer) === 'UNSAFE_URL') {
      // A production server makes no calls to its own machine, and rightly so.
      reach = undefined;
      answer = await root.send('POST', '/api/v1/capabilities', plain);
    }
    // Says it as every other failure is said.
    if (answer.status !== 201) await root.expect(201, 'POST', '/api/v1/capabilities', plain);
    onMade(async (late) => void (await late.send('DELETE', `/api/v1/capabilities/${plain.name}`)));
  }
  return reach !== undefined;
}

function definitions(names: Names, shop: string) {
  return [
    {
      name: names.search,
      description: 'Looks for offers.',
      defaultHitlMode: 'auto',
      connector: { type: 'http', method: 'GET', url: `${shop}/offers`, query: { q: '{input.query}' }, timeoutSeconds: 20 },
    },
    {
      name: names.mail,
      description: 'Sends an e-mail.',
      connector: { type: 'http', method: 'POST', url: `${shop}/mail`, body: '{input}', timeoutSeconds: 20 },
    },
    {
      name: names.order,
      description: 'Orders from the shop.',
      inputSchema: orderSchema,
      connector: {
        type: 'http', method: 'POST', url: `${shop}/orders`, timeoutSeconds: 20,
        body: { item: '{input.item}', amount: '{input.amount}', currency: 'EUR' },
      },
    },
  ] as const;
}

const condition = (above: number, hitlMode: string, reason: string) => ({ when: `input.amount > ${above}`, hitlMode, reason });

const orderSchema: JsonObject = {
  type: 'object',
  required: ['item', 'amount'],
  properties: { item: { type: 'string' }, amount: { type: 'number', exclusiveMinimum: 0 } },
};

export const code = ({ body }: Answer): string => (typeof body.code === 'string' ? body.code : '');
