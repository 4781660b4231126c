import { setTimeout as pause } from 'node:timers/promises';
import { agentChain, organizationChain, platformChain } from '../../domain/audit/entry/chain.js';
import type { WaivedCheckpoint } from '../../domain/audit/notes/waived-checkpoint.js';
import { asService } from '../../platform/auth/access/call-context.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { dropUnsent } from '../../platform/outbox/drop-unsent-effects.store.js';
import { raisedEpoch } from '../agents/tokens/issue-token.service.js';
import { closeIndeterminate } from '../executions/closing/close-within.js';
import { enterMaintenance, leaveMaintenance } from '../organizations/installation/maintenance-mode.store.js';
import { hashRootKey, makeRootKey } from '../organizations/installation/root-key.js';
import { giveUpDeliveries } from '../notifications/deliveries/give-up-deliveries.store.js';
import { voidInvitations } from '../sign-in/invitations/void-invitations.store.js';
import type { SessionRef } from '../sign-in/ports/sessions.js';
import { type RecoveryParts } from './recovery-parts.store.js';
import {
  type AgentInOrganization, agentsBefore, agentsWithWork, endedSince, openInvitations, openSessions, organizationsToRecord, serviceState,
} from './recovery.query.js';

const UNDER_WAY = 'This database is being recovered. Should that have been cut short, run `countersign recover --accept-loss` again: '
  + 'it goes on where it was.';
/** Servers notice maintenance mode within a second; work that they had begun ends in this time. */
const SERVERS_SEE_IT_MS = 3_000;
const AGENTS_AT_ONCE = 100;
const SIGN_INS_AT_ONCE = 100;
const EFFECTS_AT_ONCE = 5_000;
const CAUSE = 'recovered';
const UNKNOWN = 'The database was put back to an older state while the action was running. It may have been done; it is not repeated.';
const FIRST: AgentInOrganization = { organizationId: '', agentId: '' };

export interface RecoveryOrder {
  /** Checkpoints that anchors had and this database has not. */
  readonly lost: readonly WaivedCheckpoint[];
  /** The word of the signing key that it was done then; absent where there is no key. */
  readonly signed?: ((at: Date) => string) | undefined;
  /** Does what has to be done outside of the database, last before it is served again. Repeated when it is cut short. */
  readonly beforeRelease: () => Promise<void>;
  readonly onProgress: (step: 'work' | 'agents' | 'sessions' | 'invitations' | 'organizations', done: number) => void;
}

export interface Recovered {
  readonly agentsWithWork: number;
  readonly agents: number;
  readonly sessions: number;
  readonly invitations: number;
  readonly organizations: number;
  readonly effects: number;
  readonly recoveredAt: Date;
}

/**
 * Puts a database into service that is older than what was lived: whatever it has open may have ended, and whatever it holds for valid
 * may have been taken back. Running executions become indeterminate, what waits is cancelled, every token, session and invitation and
 * the root key die, and the log says what was given up. In many short units of work, each of which finds what it has to do in the
 * database: cut short, it goes on where it was. The database is in maintenance mode from the first moment to the last.
 */
export async function recoverInstallation(parts: RecoveryParts, order: RecoveryOrder): Promise<Recovered> {
  const { run } = parts;
  const since = await enterMaintenance(run, UNDER_WAY);
  const { servers } = await serviceState(run);
  if (servers > 0) await pause(SERVERS_SEE_IT_MS);
  return asService('cli', async () => {
    const ended = await endWork(parts, order);
    const agents = await raiseEpochs(parts, since, order);
    const sessions = await endInSets(parts, openSessions, (tx, found) => parts.sessions.end(tx, found, CAUSE, 'system'),
      (done) => order.onProgress('sessions', done));
    const invitations = await endInSets(parts, openInvitations, (tx, found) => voidInvitations(tx, found, 'system'),
      (done) => order.onProgress('invitations', done));
    const { organizations, effects } = await recordAll(parts, since, order);
    await order.beforeRelease();
    const recoveredAt = await release(parts, order);
    return { agentsWithWork: ended, agents, sessions, invitations, organizations, effects, recoveredAt };
  });
}

/** One agent at a time: it may have a thousand requests open. */
async function endWork({ run, work, executions, cancelling, tasks }: RecoveryParts, { onProgress }: RecoveryOrder): Promise<number> {
  let done = 0;
  for (let after = FIRST; ; ) {
    const found = await agentsWithWork(run, after, AGENTS_AT_ONCE);
    for (const { organizationId, agentId } of found) {
      const plan = { chains: [agentChain(organizationId, agentId)], judges: [organizationId] };
      await work.run(plan, async (tx) => {
        for (const id of await executions.running(tx, organizationId, agentId)) {
          await closeIndeterminate(tx, executions, await executions.read(tx, { organizationId, id }), UNKNOWN);
        }
        await cancelling.openRequests(tx, organizationId, agentId, CAUSE);
        await cancelling.approved(tx, organizationId, agentId, CAUSE);
        await tasks.endOf(tx, organizationId, agentId, CAUSE);
      });
      onProgress('work', ++done);
    }
    const last = found.at(-1);
    if (!last) return done;
    after = last;
  }
}

/** Every agent's, also of those out of service: with its epoch die its tokens, and the setup tokens that were issued for it. */
async function raiseEpochs({ run, work, agents }: RecoveryParts, since: Date, { onProgress }: RecoveryOrder): Promise<number> {
  let done = 0;
  for (let after = FIRST; ; ) {
    const found = await agentsBefore(run, since, after, AGENTS_AT_ONCE);
    const last = found.at(-1);
    if (!last) return done;
    await work.run({ chains: found.map(({ organizationId, agentId }) => agentChain(organizationId, agentId)) }, async (tx) => {
      for (const { organizationId, agentId: id } of found) {
        const agent = await agents.readAny(tx, { organizationId, id });
        const epoch = await raisedEpoch(tx, agent.epoch);
        await agents.update(tx, { ...agent, epoch });
        tx.record(agentChain(organizationId, id), { type: 'agent.tokens_revoked', metadata: { epoch } });
      }
    });
    onProgress('agents', (done += found.length));
    after = last;
  }
}

/** Ends what is found open until nothing is, some of it in one work. */
async function endInSets(
  { run, work }: RecoveryParts, find: typeof openSessions, end: (tx: Tx, found: readonly SessionRef[]) => Promise<unknown>,
  onProgress: (done: number) => void,
): Promise<number> {
  let done = 0;
  for (;;) {
    const found = await find(run, SIGN_INS_AT_ONCE);
    if (found.length === 0) return done;
    const chains = [...new Set(found.map(({ organizationId }) => organizationId))].map(organizationChain);
    await work.run({ chains, leavesFacts: true }, (tx) => end(tx, found));
    onProgress((done += found.length));
  }
}

async function recordAll(
  { run, work }: RecoveryParts, since: Date, { onProgress }: RecoveryOrder,
): Promise<{ organizations: number; effects: number }> {
  let organizations = 0;
  let all = 0;
  for (const organizationId of await organizationsToRecord(run, since)) {
    let effects = 0;
    const drop = async (tx: Tx) => {
      const dropped = await dropUnsent(tx, organizationId, since, EFFECTS_AT_ONCE);
      effects += dropped;
      return dropped;
    };
    while ((await work.run({ chains: [] }, drop)) === EFFECTS_AT_ONCE);
    const giveUp = (tx: Tx) => giveUpDeliveries(tx, organizationId, since, EFFECTS_AT_ONCE);
    while ((await work.run({ chains: [] }, giveUp)) === EFFECTS_AT_ONCE);
    const ended = await endedSince(run, organizationId, since);
    const chain = organizationChain(organizationId);
    await work.run({ chains: [chain] }, (tx) => {
      tx.record(chain, { type: 'admin.recovered', metadata: { ...ended, effects, lossAccepted: true } });
      return Promise.resolve();
    });
    all += effects;
    onProgress('organizations', ++organizations);
  }
  return { organizations, effects: all };
}

/**
 * The old root key dies with this commit: it may be one that was taken out of service. Nobody knows its successor, so that
 * `key rotate` has to make another.
 */
async function release({ work, rootKey }: RecoveryParts, { lost, signed }: RecoveryOrder): Promise<Date> {
  const recoveredAt = await work.run({ chains: [platformChain()] }, async (tx) => {
    const now = await tx.now();
    await rootKey.replace(tx, hashRootKey(makeRootKey()), now);
    await leaveMaintenance(tx, now, signed?.(now) ?? null);
    for (const loss of lost.length === 0 ? [{}] : lost.map((one) => ({ lost: one }))) {
      tx.record(platformChain(), { type: 'admin.recovered', metadata: { ...loss, lossAccepted: true } });
    }
    return now;
  });
  await rootKey.passOldKey();
  return recoveredAt;
}
