import { Api, DemoStopped } from './api.js';
import { readOptions, USAGE, type DemoOptions } from './options.js';
import { startOwnServer, type OwnServer } from './own-server.js';
import { AutomaticReviewer, PersonAtKeyboard, type Reviewer } from './person.js';
import { tamper, verifyChain } from './record.js';
import { prepareSetting } from './setting.js';
import { Stage } from './stage.js';
import { BIG_ORDER, playScenes } from './scenes.js';
import { openShop } from './shop.js';

const INTERRUPTED = 130;
const CLEAN_UP_WITHIN_MS = 10_000;

type Undo = () => Promise<unknown>;

/** Plays the demo and says how it ended, as an exit code. Whatever was made is unmade before that, in reverse order. */
async function demo(options: DemoOptions, stage: Stage, interruption: AbortController): Promise<number> {
  const undo: Undo[] = [];
  try {
    return await play(options, stage, interruption, undo);
  } catch (error) {
    if (interruption.signal.aborted) {
      stage.line();
      stage.line(stage.paint('dim', 'Interrupted; cleaning up …'));
      return INTERRUPTED;
    }
    if (!(error instanceof DemoStopped)) throw error;
    stage.line();
    process.stderr.write(`${error.message}\n`);
    return error.exitCode;
  } finally {
    for (const step of undo.reverse()) {
      await step().catch((error: unknown) => process.stderr.write(`Could not clean up everything: ${String(error)}\n`));
    }
  }
}

async function play(options: DemoOptions, stage: Stage, interruption: AbortController, undo: Undo[]): Promise<number> {
  const { signal } = interruption;
  const reviewer = reviewerFor(options, stage, interruption);
  opening(stage);
  const shop = await openShop();
  undo.push(() => shop.close());
  let own: OwnServer | undefined;
  if (!options.server) {
    own = await stage.during('starting a server of its own, with a database in a temporary folder',
      startOwnServer(signal, (stop) => undo.push(stop)));
  }
  const { url, key } = options.server ?? own!;
  stage.line(`${stage.paint('shop', '●')} ${own ? 'A server of its own' : 'Your server'} at ${url}`);
  const root = new Api(url, key, signal);
  const setting = await prepareSetting({
    root,
    shopUrl: isHere(url) ? shop.url : undefined,
    onYourServer: own === undefined,
    // The server of the demo goes as a whole; somebody's is left as it was found.
    onMade: (unmake) => {
      if (!own) undo.push(() => unmake(root.withSignal(AbortSignal.timeout(CLEAN_UP_WITHIN_MS))));
    },
  });
  stage.line(`${stage.paint('agent', '●')} An agent, "${setting.agentName}", with four grants`);
  stage.line(`${stage.paint('person', '●')} A person who is asked: ${options.auto ? 'played by --auto' : 'you'}`);
  if (!setting.connected) {
    stage.say('This server cannot reach the demo\'s shop: the agent gets licences to act instead.', 'dim');
  }

  const cast = { stage, reviewer, root, agent: setting.agent, shop, licensed: new Set<string>() };
  const next = await playScenes(cast, setting, options.auto);
  await verifyChain(stage, root, setting.agentId, next);
  if (own) {
    const order = { capability: setting.names.order, amount: BIG_ORDER.amount };
    await tamper(stage, { root, agentId: setting.agentId, databaseUrl: own.databaseUrl(), order, signal }, next + 1);
  }
  ending(stage, own !== undefined);
  return 0;
}

function reviewerFor(options: DemoOptions, stage: Stage, interruption: AbortController): Reviewer {
  if (options.auto) return new AutomaticReviewer(stage);
  if (!process.stdin.isTTY) {
    throw new DemoStopped('This is no terminal, so nobody can be asked. Use: npm run demo -- --auto', 2);
  }
  return new PersonAtKeyboard(stage, process.stdin, interruption.signal, () => interruption.abort());
}

/** Whether the server is on this machine, where `127.0.0.1` means the same to it as to us. */
function isHere(url: string): boolean {
  return ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);
}

function opening(stage: Stage): void {
  const dim = (text: string) => stage.paint('dim', text);
  const end = stage.paint('shop', 'world');
  stage.line();
  stage.line(stage.paint('bold', 'Countersign: an agent goes shopping'));
  stage.line();
  stage.line(dim('                  ╭── auto · notify ──────────────────────▶ ') + end);
  stage.line(
    `${stage.paint('agent', 'agent')}${dim(' ───▶ ')}${stage.paint('gate', 'gate')}${dim(' ──┼── propose · escalate ──▶ ')}` +
      `${stage.paint('person', 'person')}${dim(' ──────▶ ')}${end}`,
  );
  stage.line(`${dim('             │    ╰── block · not granted ──')}${stage.paint('stop', '✘')}`);
  stage.line(`${dim('             ╰────────▶ ')}${stage.paint('chain', '⬡─⬡─⬡─⬡─⬡')}${dim('  every step, in the audit chain')}`);
  stage.line();
}

function ending(stage: Stage, own: boolean): void {
  stage.line();
  const rows = own
    ? ['The agent acted where it might, people decided where they must,', 'and what was changed afterwards was found.']
    : ['The agent acted where it might, and people decided where they must.',
      'What the demo made on your server is removed; its entries stay.'];
  stage.box('the end', [...rows, '', stage.paint('dim', 'README.md shows the same in curl.')], 'shop');
  stage.line();
}

/** npm and the terminal may both send it; once is enough. */
function listenForEnd(interruption: AbortController): void {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => interruption.abort());
  // `npm run demo | head`: nobody looks any more.
  process.stdout.on('error', () => interruption.abort());
}

/** `npm run demo` once everything is built. */
export async function main(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const interruption = new AbortController();
  try {
    const options = readOptions(args, env);
    if (options.help) {
      process.stdout.write(USAGE);
      return 0;
    }
    listenForEnd(interruption);
    const colour = process.stdout.isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';
    return await demo(options, new Stage(process.stdout, colour, interruption.signal), interruption);
  } catch (error) {
    if (!(error instanceof DemoStopped)) throw error;
    process.stderr.write(`${error.message}\n`);
    return error.exitCode;
  }
}
