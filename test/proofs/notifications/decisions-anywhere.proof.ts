import { aChatAccount, anOrganization, aPerson, type BuiltPerson } from '../../support/builders/people.js';
import { aRequest, type AskedRequest, digestOf } from '../../support/builders/requests.js';
import { anonymous, as } from '../../support/http/actors.js';
import { Browser } from '../../support/http/browser.js';
import { auditOf } from '../../support/log/entries.js';
import { decideOn, type MailLinker, pageOf, signedIn, startMailLinker } from '../../support/notifications/decision-visits.js';
import { type SlackWorkspace, startSlack } from '../../support/notifications/slack.js';
import type { Proof } from '../../support/proofs/proof.js';
import { done, generator } from '../../support/proofs/races.js';
import { startServer, type TestServer } from '../../support/servers/server.js';

const WAYS = ['api', 'page', 'mail', 'chat'] as const;
type Way = (typeof WAYS)[number];
const PAIRS = WAYS.flatMap((one, i) => WAYS.slice(i).map((other) => [one, other] as const));
/** Requests that are decided at once. */
const TOGETHER = 4;
const CALLBACK = '/api/v1/notifications/callbacks/slack';

interface Scene {
  readonly servers: readonly [TestServer, TestServer];
  readonly organizationId: string;
  readonly slack: SlackWorkspace;
  readonly linkers: readonly MailLinker[];
  /** Two people who may decide, each with a Slack account. */
  readonly people: readonly [BuiltPerson, BuiltPerson];
}

/** Two people decide one request at the same moment, on a server each, each by any of the ways. */
export const proof: Proof = {
  name: 'decisions-anywhere',
  title: 'Of two who decide at once, by call, page, mail or chat, one decides: one end, one entry, by one of the two.',
  longCount: 2_000,
  shortCount: 20,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const coverage: Record<string, number> = Object.fromEntries(PAIRS.map((pair) => [pair.join(' x '), 0]));
    const random = generator(seed);
    const slack = await startSlack();
    const env = { SLACK_WEBHOOK_URL: slack.webhookUrl, SLACK_SIGNING_SECRET: slack.signingSecret, SLACK_API_URL: slack.apiUrl };
    const one = await startServer({ env });
    try {
      const other = await startServer({ replicaOf: one, env });
      const linkers = [await startMailLinker(one), await startMailLinker(other)];
      try {
        const scene = await sceneOn([one, other], slack, linkers);
        let checked = 0;
        let counterexample: string | undefined;
        while (checked < count && counterexample === undefined) {
          const pairs = Array.from({ length: Math.min(TOGETHER, count - checked) }, (_, i) => PAIRS[(checked + i) % PAIRS.length]!);
          const wrong = await Promise.all(pairs.map((pair) => race(scene, pair, random() < 0.5, coverage)));
          counterexample = wrong.find((one) => one !== undefined);
          progress(checked += pairs.length);
        }
        return { checked, coverage, ...(counterexample === undefined ? {} : { counterexample }) };
      } finally {
        for (const linker of linkers) await linker.close();
        await other.stop();
      }
    } finally {
      await one.stop();
      await slack.close();
    }
  },
};

async function sceneOn(
  servers: readonly [TestServer, TestServer], slack: SlackWorkspace, linkers: readonly MailLinker[],
): Promise<Scene> {
  const [one] = servers;
  const organizationId = await anOrganization(one);
  const people = [await aPerson(one, 'owner', { organizationId }), await aPerson(one, 'admin', { organizationId })] as const;
  (await people[0].client.patch(`/api/v1/organizations/${organizationId}`, { settings: { decideByMail: true } })).expect(200);
  for (const [n, { id }] of people.entries()) {
    await aChatAccount(one, { organizationId, userId: id, workspace: slack.team, chatUser: `U000${n}` });
  }
  return { servers, organizationId, slack, linkers, people };
}

async function race(
  scene: Scene, ways: readonly [Way, Way], isApproving: boolean, coverage: Record<string, number>,
): Promise<string | undefined> {
  const { servers: [one], organizationId, people } = scene;
  const request = await aRequest(one, { organizationId });
  const digest = await digestOf(one, request);
  // What each needs to have at hand is fetched before the two decide.
  const decisions = await Promise.all(ways.map((way, n) => deciding(scene, n as 0 | 1, way, request, digest, isApproving)));
  await Promise.all(decisions.map((decide) => decide()));
  const name = ways.join(' x ');
  coverage[name]! += 1;
  const [row] = await one.sql<{ status: string; decided_by: string }>(
    'select status, decided_by from hitl_requests where id = $1', [request.id]);
  const wanted = isApproving ? 'approved' : 'rejected';
  if (row!.status !== wanted) return `${name}: the request is ${row!.status} instead of ${wanted}`;
  if (!people.some(({ id }) => id === row!.decided_by)) return `${name}: it was decided by ${row!.decided_by}`;
  const ends = (await auditOf(one, request.agent.id)).filter(({ event }) => event === `hitl.${wanted}`);
  return ends.length === 1 && ends[0]!.actorId === row!.decided_by ? undefined : `${name}: ${ends.length} entries of its end`;
}

/** A decision that is ready to be made, by this way, on this person's server. */
async function deciding(
  { servers, slack, linkers, people, organizationId }: Scene, n: 0 | 1, way: Way, request: AskedRequest, digest: string,
  isApproving: boolean,
): Promise<() => Promise<unknown>> {
  const [server, person] = [servers[n], people[n]];
  const decision = isApproving ? 'approve' : 'reject';
  switch (way) {
    case 'api': {
      const client = as(server, person.key);
      return () => done(() => client.post(`/api/v1/hitl/${request.id}/${decision}`, { expectedDigest: digest }));
    }
    case 'page': {
      const browser = await signedIn(server, person);
      return () => decideOn(browser, pageOf(server, request.id), { decision }).catch(() => undefined);
    }
    case 'mail': {
      const links = await linkers[n]!.links({ id: request.id, organizationId, digest }, person.id);
      return () => decideOn(new Browser(), links[decision], { decision }).catch(() => undefined);
    }
    case 'chat': {
      const value = JSON.stringify({ request: request.id, digest });
      const body = slack.pressed({ user: `U000${n}`, value, actionId: decision });
      return () => done(() => anonymous(server).post(CALLBACK, undefined, { raw: body, headers: slack.signed(body) }));
    }
  }
}
