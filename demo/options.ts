import { parseArgs } from 'node:util';
import { DemoStopped } from './api.js';

export interface DemoOptions {
  readonly help: boolean;
  /** Answers instead of the person. */
  readonly auto: boolean;
  /** Somebody's running server; absent: the demo starts one of its own. */
  readonly server?: { readonly url: string; readonly key: string };
}

export const USAGE = `npm run demo -- [--auto] [--url URL --key KEY]

  Shows an agent that buys steel, through the gate of a server.

  --auto        answers the approvals by itself; without it you decide
  --url, --key  a running server and its root key, else COUNTERSIGN_URL and COUNTERSIGN_KEY
                (other users of this machine see what stands here);
                without them a server is started for the demo, in a temporary folder
  NO_COLOR=1    no colours
`;

/** @throws DemoStopped when the arguments make no sense */
export function readOptions(args: readonly string[], env: NodeJS.ProcessEnv): DemoOptions {
  const { auto, help, url: givenUrl, key: givenKey } = parsed(args);
  // A key alone names no server: it may just still be in the environment from a first try with curl.
  const url = givenUrl ?? (env.COUNTERSIGN_URL || undefined);
  const key = givenKey ?? (env.COUNTERSIGN_KEY || undefined);
  if (url === undefined) {
    if (givenKey !== undefined) throw new DemoStopped('--key goes with --url (or COUNTERSIGN_URL).', 2);
    return { help, auto };
  }
  const isAddress = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  if (!isAddress) throw new DemoStopped(`${url} is not the address of a server.`, 2);
  if (key === undefined) throw new DemoStopped(`The root key of ${url} is needed: --key or COUNTERSIGN_KEY.`, 2);
  return { help, auto, server: { url: url.replace(/\/+$/, ''), key } };
}

function parsed(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        auto: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
        url: { type: 'string' },
        key: { type: 'string' },
      },
    });
    return values;
  } catch (error) {
    throw new DemoStopped(`${(error as Error).message}\n\n${USAGE}`, 2);
  }
}
