import { DemoStopped } from './api.js';
import { attempt, type Call, type Cast, type Ending } from './call.js';
import { ORDER_ASKS_ABOVE, ORDER_BLOCKS_ABOVE, type Setting } from './setting.js';

interface Scene {
  readonly title: string;
  readonly words: string;
  readonly call: Call;
  /** How it ends when everybody plays their part; the person at the keyboard may see it otherwise. */
  readonly ending: Ending;
}

/** The item and the sum of the order that somebody would later like to have been smaller. */
export const BIG_ORDER = { item: 'steel sheet, 10 t', amount: 4_650 } as const;

function scenes({ names }: Setting): Scene[] {
  return [
    {
      title: 'It searches',
      words: 'Reading offers harms nobody: the grant says auto, the gate lets it through and writes it down.',
      call: { capability: names.search, input: { query: 'steel sheet' } },
      ending: 'executed',
    },
    {
      title: 'It writes an e-mail',
      words: 'What leaves the company in our name is only proposed. The call waits until a person has seen the exact bytes.',
      call: {
        capability: names.mail,
        input: { to: 'sales@steel.example', subject: 'Your offer for 10 t', text: 'Does the price hold until Friday?' },
        suggested: { choice: 'approve', note: 'Fine, send it.' },
      },
      ending: 'executed',
    },
    {
      title: 'It buys a little',
      words: `The grant for orders says auto, with the condition input.amount > ${ORDER_ASKS_ABOVE}. This one stays below.`,
      call: { capability: names.order, input: { item: 'steel sheet, 1 t', amount: 480 } },
      ending: 'executed',
    },
    {
      title: 'It buys a lot',
      words: 'The same capability, the same agent, another amount: now the condition holds, and a person decides.',
      call: { capability: names.order, input: BIG_ORDER, suggested: { choice: 'approve', note: 'Within the budget.' } },
      ending: 'executed',
    },
    {
      title: 'It buys far too much',
      words: `Above ${ORDER_BLOCKS_ABOVE.toLocaleString('en')} another condition says block. Nobody is even asked.`,
      call: { capability: names.order, input: { item: 'steel mill', amount: 25_000_000 } },
      ending: 'blocked',
    },
    {
      title: 'It wants to pay',
      words: 'Somebody granted finance.payment as auto. It is hardcoded: it always goes to a person, whatever a grant says.',
      call: {
        capability: 'finance.payment',
        input: { to: 'DE02 1203 0000 0000 2020 51', amount: BIG_ORDER.amount, currency: 'EUR' },
        suggested: { choice: 'reject', note: 'We pay on invoice.' },
      },
      ending: 'rejected',
    },
    {
      title: 'It tries what nobody gave it',
      words: 'No grant, no way: refused before anybody is disturbed.',
      call: { capability: 'file.delete', input: { path: '/invoices/2026' } },
      ending: 'CAPABILITY_NOT_GRANTED',
    },
  ];
}

/**
 * Plays the scenes up to the deactivation of the agent, and gives the number of the next one.
 * @param strict each scene must end as it is written; where a person decides, it may end otherwise
 * @throws DemoStopped when a scene ends as it must not
 */
export async function playScenes(cast: Cast, setting: Setting, strict: boolean): Promise<number> {
  const { stage } = cast;
  const endings: Ending[] = [];
  let number = 0;
  for (const { title, words, call, ending } of scenes(setting)) {
    await stage.scene(++number, title);
    stage.say(words, 'dim');
    stage.line();
    await stage.beat(900);
    const outcome = await attempt(cast, call);
    endings.push(outcome);
    if (strict && outcome !== ending) {
      throw new DemoStopped(`Here the demo went wrong: this ends as "${ending}", not "${outcome}".`, 1);
    }
  }
  endings.push(await deactivate(cast, setting, ++number));
  showReckoning(cast, endings.length);
  return number + 1;
}

async function deactivate(cast: Cast, { agentId, names }: Setting, number: number): Promise<Ending> {
  const { stage, root } = cast;
  await stage.scene(number, 'It is switched off');
  stage.say('One call deactivates the agent. Its token has not expired, but from this moment on it opens nothing.', 'dim');
  stage.line();
  await root.expect(200, 'POST', `/api/v1/agents/${agentId}/deactivate`, { reason: 'The demo is over.' });
  stage.line(`${stage.paint('person', 'root')}   POST /api/v1/agents/…/deactivate  ${stage.paint('shop', '✔')}`);
  stage.line();
  await stage.beat(500);
  const outcome = await attempt(cast, { capability: names.search, input: { query: 'more steel' } });
  if (outcome !== 'AGENT_INACTIVE') throw new DemoStopped(`A deactivated agent was answered "${outcome}".`, 1);
  return outcome;
}

/** Counts at the shop's end: nothing arrived there that the gate had not let through. */
function showReckoning({ stage, shop, licensed }: Cast, tried: number): void {
  const strangers = shop.arrivals.filter(({ executionId }) => executionId === undefined || !licensed.has(executionId));
  if (strangers.length > 0) throw new DemoStopped(`${strangers.length} calls reached the shop past the gate.`, 1);
  if (shop.arrivals.length === 0) return;
  stage.line();
  stage.say(`It tried ${tried} times. The shop, a real server on this machine, got ${shop.arrivals.length} calls.`);
}
