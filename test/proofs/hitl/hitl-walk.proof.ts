import fc from 'fast-check';
import { asRoot } from '../../support/http/actors.js';
import { canWalk, type Command, type Met } from '../../support/hitl/hitl-commands.js';
import { type Model, type ModelTerms, PRINCIPALS, type Principal } from '../../support/hitl/hitl-model.js';
import type { DecisionResult, Verb } from '../../support/hitl/hitl-model-decisions.js';
import { Walker } from '../../support/hitl/hitl-walker.js';
import { aTenantGroup, CAPABILITIES, type TenantGroup, HitlScenario } from '../../support/hitl/hitl-scenario.js';
import { ANSWERS, TOUR } from '../../support/hitl/hitl-tour.js';
import type { Proof } from '../../support/proofs/proof.js';
import { startReceiver } from '../../support/http/receiver.js';
import { startServer, type TestServer } from '../../support/servers/server.js';
import { recordPeople } from '../../support/erasure/recorded-people.js';

const MAX_PENDING = 5;
const STEPS_AT_MOST = 60;
const SHRINK_WITHIN_MS = 120_000;

/**
 * A walk of random commands by everybody there is, over the real server and over a model that was written from the interface
 * alone. After each step answer and request are compared, at the end of each walk the log and the count of open requests. The
 * first walk is a tour that meets every answer there is.
 */
export const proof: Proof = {
  name: 'hitl-walk',
  title: 'Requests move as the interface says, whoever sends whatever in whatever order.',
  longCount: 10_000,
  shortCount: 300,
  needs: 'database',
  run: async ({ count, seed, progress }) => {
    const coverage: Record<string, number> = Object.fromEntries(ANSWERS.map((label) => [label, 0]));
    const receiver = await startReceiver();
    const server = await startServer({ env: { HITL_MAX_PENDING_PER_AGENT: String(MAX_PENDING) } });
    try {
      const group = await aTenantGroup(server, receiver);
      await recordPeople(server);
      let checked = 0;
      const walked = (met: Met) => {
        for (const label of met.labels) coverage[label] = (coverage[label] ?? 0) + 1;
        progress(++checked);
      };
      let counterexample = await tour(group, walked);
      for (let round = 0; checked < count && counterexample === undefined; round++) {
        counterexample = await someWalks(group, seed + round, () => checked >= count, walked);
      }
      counterexample ??= await wrongInLog(server);
      return { checked, coverage: sorted(coverage), ...(counterexample === undefined ? {} : { counterexample }) };
    } finally {
      await server.stop();
      await receiver.close();
    }
  },
};

/** The walk ends windows by SQL, so something may have run out before the end that the log knows of: that alone is no wonder. */
const TIME = /its (time was not over|window is not the \d+ s that it was asked with)$/;

async function wrongInLog(server: TestServer): Promise<string | undefined> {
  const verified = (await asRoot(server).get('/api/v1/audit/verify')).expect(200);
  const breaks = (verified.list('breaks') as { detail: string }[]).filter(({ detail }) => !TIME.test(detail));
  return breaks.length === 0 ? undefined : `the log does not verify: ${JSON.stringify(breaks.slice(0, 5))}`;
}

async function tour(group: TenantGroup, walked: (met: Met) => void): Promise<string | undefined> {
  const model = freshModel({ mode: 'propose', action: 'reject' });
  const scenario = await HitlScenario.open(group, model.agents);
  const walker = new Walker(model, scenario);
  try {
    for (const [i, command] of TOUR.entries()) {
      if (!canWalk(model, command)) throw new Error(`step ${i} of the tour has nothing to work on: ${JSON.stringify(command)}`);
      const met = await walker.walk(command);
      walked(met);
      if (met.difference !== undefined) return `step ${i} of the tour, ${JSON.stringify(command)}: ${met.difference}`;
    }
    return await scenario.differenceAtEnd(model);
  } finally {
    await scenario.close();
  }
}

class Step implements fc.AsyncCommand<Model, Walker> {
  constructor(private readonly command: Command, private readonly walked: (met: Met) => void, private readonly enough: () => boolean) {}

  check(model: Readonly<Model>): boolean {
    return !this.enough() && canWalk(model, this.command);
  }

  async run(_model: Model, walker: Walker): Promise<void> {
    const met = await walker.walk(this.command);
    this.walked(met);
    if (met.difference !== undefined) throw new Error(met.difference);
  }

  toString(): string {
    return JSON.stringify(this.command);
  }
}

/** A few walks of one seed. One that breaks the claim is shortened as far as two minutes go. */
async function someWalks(group: TenantGroup, seed: number, enough: () => boolean, walked: (met: Met) => void): Promise<string | undefined> {
  let broken = false;
  const step = command.map((one) => new Step(one, (met) => {
    if (met.difference !== undefined) broken = true;
    walked(met);
  }, () => enough() && !broken));
  const walks = fc.commands([step], { maxCommands: STEPS_AT_MOST, size: 'max' });
  const property = fc.asyncProperty(remindingTerms, walks, async (first, steps) => {
    const model = freshModel(first);
    const scenario = await HitlScenario.open(group, model.agents);
    try {
      await fc.asyncModelRun(() => ({ model, real: new Walker(model, scenario) }), steps);
      const difference = await scenario.differenceAtEnd(model);
      if (difference === undefined) return;
      broken = true;
      throw new Error(difference);
    } finally {
      await scenario.close();
    }
  });
  const result = await fc.check(property, { seed, numRuns: 5, interruptAfterTimeLimit: SHRINK_WITHIN_MS });
  if (!result.failed) return undefined;
  const walk = fc.stringify(result.counterexample).replaceAll(',{"kind', ',\n{"kind');
  return `${(result.errorInstance as Error).message}\nfirst terms of the grants, then the walk:\n${walk}`;
}

function freshModel(first: ModelTerms): Model {
  // Time approves no transfer of money, whatever the others' terms.
  const of = (capability: string): ModelTerms =>
    (capability === 'phone.call' && first.action === 'approve' ? { ...first, action: 'reject' } : first);
  const agent = () => ({
    active: true, stopped: false, inToken: new Set<string>(CAPABILITIES),
    grants: new Map(CAPABILITIES.map((name) => [name, { ...of(name), held: true }])),
  });
  return { agents: [agent(), agent()], requests: [], maxPending: MAX_PENDING, strict: false };
}

const often = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });
const agent = fc.constantFrom(0, 0, 0, 1);
const capability = fc.constantFrom(...CAPABILITIES);
const action = fc.constantFrom('reject', 'approve', 'escalate', 'notify_only');
const terms: fc.Arbitrary<ModelTerms> = fc.record({ mode: fc.constantFrom('propose'), action });
const remindingTerms: fc.Arbitrary<ModelTerms> = terms.map((plain) =>
  ({ ...plain, reminders: [{ minutesBefore: 20, escalates: false }, { minutesBefore: 10, escalates: true }] }));
const anyTerms: fc.Arbitrary<ModelTerms> = fc.record({
  mode: fc.constantFrom('propose', 'propose', 'propose', 'escalate', 'auto', 'block'),
  action,
  quorum: fc.option(fc.record({ approvals: fc.constantFrom(2, 2, 3), withAdmin: fc.boolean() }), { nil: undefined, freq: 2 }),
  reminders: fc.uniqueArray(fc.record({ minutesBefore: fc.constantFrom(2, 8, 15, 25), escalates: fc.boolean() }),
    { maxLength: 3, selector: ({ minutesBefore }) => minutesBefore }),
}).map(({ quorum, ...rest }) => ({ ...rest, ...(quorum === undefined ? {} : { quorum }) }));
const pick = fc.record({ nth: fc.nat(99), open: fc.constantFrom(true, true, true, false) });
const deciders: readonly Principal[] = ['root', 'owner', 'admin', 'admin', 'lead', 'lead', 'teammate', 'agentOwner'];
const who = fc.oneof(often(3, fc.constantFrom(...deciders)), often(1, fc.constantFrom(...PRINCIPALS)));
const attempt: fc.Arbitrary<DecisionResult> = fc.record({
  verb: fc.constantFrom<Verb>('approve', 'approve', 'reject', 'cancel', 'timeout', 'escalate', 'escalate'),
  who,
  digest: fc.constantFrom('right', 'right', 'right', 'none', 'none', 'stale'),
  breakGlass: fc.constantFrom(undefined, 'with a reason' as const, 'without' as const),
  to: fc.constantFrom(undefined, undefined, ...PRINCIPALS),
  edit: fc.constantFrom(undefined, undefined, undefined, undefined, 'harmless' as const, 'danger' as const),
}).map(({ breakGlass, to, edit, ...drawn }) => ({
  ...drawn,
  ...(drawn.verb === 'approve' && (drawn.who === 'owner' || drawn.who === 'root') && breakGlass !== undefined ? { breakGlass } : {}),
  ...(drawn.verb === 'approve' && edit !== undefined ? { edit } : {}),
  ...(drawn.verb === 'escalate' && to !== undefined ? { to } : {}),
}));

const command: fc.Arbitrary<Command> = fc.oneof(
  often(60, fc.record({
    kind: fc.constant('ask' as const), agent, capability, by: fc.constantFrom('gate', 'gate', 'adapter'),
    danger: fc.constantFrom(false, false, false, true), onBehalfOf: fc.constantFrom(undefined, undefined, undefined, 'owner', 'admin'),
  }).map(({ onBehalfOf, ...asked }) => ({ ...asked, ...(onBehalfOf === undefined ? {} : { onBehalfOf }) }))),
  often(100, fc.record({ kind: fc.constant('decide' as const), pick, attempt })),
  often(15, fc.record({ kind: fc.constant('repeat' as const), pick: fc.nat(99), otherBody: fc.constantFrom(false, false, true) })),
  often(12, fc.record({ kind: fc.constant('click late' as const), pick, attempt })),
  often(12, fc.record({ kind: fc.constant('sweep' as const), pick })),
  often(6, fc.record({ kind: fc.constant('remind' as const), pick, due: fc.constantFrom('next', 'next', 'all') })),
  often(15, fc.record({
    kind: fc.constant('batch' as const), who, decision: fc.constantFrom('approve', 'approve', 'reject'),
    items: fc.array(fc.record({ pick, digest: fc.constantFrom('right', 'right', 'right', 'none', 'stale') }),
      { minLength: 1, maxLength: 5 }),
  })),
  often(1, fc.record({ kind: fc.constant('run out' as const), agent, terms })),
  often(12, fc.record({ kind: fc.constant('grant' as const), agent, capability, terms: anyTerms })),
  often(4, fc.record({ kind: fc.constant('revoke' as const), agent, capability })),
  often(4, fc.record({ kind: fc.constantFrom('stop', 'deactivate'), agent })),
  often(10, fc.record({ kind: fc.constantFrom('resume', 'activate'), agent })),
  often(4, fc.record({ kind: fc.constantFrom('strict', 'standard') })),
);

const sorted = (coverage: Record<string, number>) => Object.fromEntries(Object.entries(coverage).sort(([a], [b]) => (a < b ? -1 : 1)));
