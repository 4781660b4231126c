import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NOTIFICATIONS } from '../../../src/platform/config/config.schema.js';
import { type Receiver, startReceiver } from '../../support/http/receiver.js';
import { asShown, commandsIn, type RanCommands, runCommands } from '../../support/proofs/documented-commands.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { CHECKOUT } from '../../support/servers/test-run.js';

const GUIDE = readFileSync(join(CHECKOUT, 'docs/notifications.md'), 'utf8');
const EXAMPLE = readFileSync(join(CHECKOUT, '.env.example'), 'utf8');
const SECRETS = [...GUIDE.matchAll(/whsec_[A-Za-z0-9+/]{20,}/g)].map(([secret]) => secret);

describe('the calls of docs/notifications.md', () => {
  const story = commandsIn(GUIDE);
  let receiver: Receiver;
  let server: TestServer;
  let reported: RanCommands;

  beforeAll(async () => {
    receiver = await startReceiver();
    server = await startServer();
    reported = await runCommands(server, story, { env: { RECEIVER: `${receiver.url}/hook` } });
  });
  afterAll(async () => {
    reported?.forget();
    await server?.stop();
    await receiver.close();
  });

  test('are answered as it says, from the first to the last', () => {
    const { code, statuses, output } = reported;
    expect({ code, statuses, output }).toEqual({ code: 0, statuses: story.statuses, output });
    expect(statuses.length).toBeGreaterThanOrEqual(6);
    for (const { call, body } of story.answers) expect(reported.answerTo(call)).toEqual(asShown(body));
    expect(reported.left()).toEqual([]);
  });

  test('and its receiver knows what is genuine, by both secrets', async () => {
    const [, code = ''] = /^```js\n(.*?)^```$/ms.exec(GUIDE) ?? [];
    const { isGenuine } = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
      isGenuine: (headers: object, body: string, secret: string) => boolean;
    };
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.requests;
    expect(SECRETS.map((secret) => isGenuine(headers, body, secret))).toEqual([true, true]);
    expect(isGenuine(headers, `${body} `, SECRETS[0]!)).toBe(false);
    expect(isGenuine({ ...headers, 'webhook-timestamp': '1' }, body, SECRETS[0]!)).toBe(false);
    expect(isGenuine({}, body, SECRETS[0]!)).toBe(false);
  });
});

test('docs/notifications.md tells of every variable of notifications, with its default', () => {
  const rows = new Map([...GUIDE.matchAll(/^\| `([A-Z_]+)` \| (.*?) \|/gm)].map(([, name = '', standard = '']) => [name, standard]));
  for (const name of Object.keys(NOTIFICATIONS)) {
    const fixed = new RegExp(`^#${name}=(.*)$`, 'm').exec(EXAMPLE)?.[1] ?? '';
    expect([name, rows.get(name)]).toEqual([name, fixed === '' ? expect.not.stringMatching(/^$/) : `\`${fixed}\``]);
  }
});
