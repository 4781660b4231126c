import { Injectable } from '@nestjs/common';
import type { AgentPrincipal } from '../../platform/auth/access/principal.js';
import { cleanupStep, Janitor } from '../../platform/database/janitor.service.js';
import type { NamedStatement } from '../../platform/database/statements/named-statement.js';
import { Statements } from '../../platform/database/statements/statements.js';
import type { Tx } from '../../platform/database/transaction/tx.js';
import { NODE_FRESH_SECONDS } from '../agents/node-presence.store.js';

/** `queued` → `leased` → `started` → `answered`; what nobody has started may be `withdrawn`. A lease that runs out is `queued` again. */
export type WorkStatus = 'queued' | 'leased' | 'started' | 'answered' | 'withdrawn';

/** The beginning of an execution that a node is to do. */
export interface WorkKey {
  readonly organizationId: string;
  readonly executionId: string;
  /** Of the execution's beginning. */
  readonly executionFence: number;
}

export interface NewWork extends WorkKey {
  readonly agentId: string;
  readonly seconds: number;
  /** Whether a fallback takes over what is withdrawn. */
  readonly yields: boolean;
}

/** The row of a work. */
export interface Work extends WorkKey {
  readonly agentId: string;
  readonly status: WorkStatus;
  /** Number of the newest lease. */
  readonly fence: number;
  readonly yields: boolean;
  readonly deadline: Date;
  /** When the newest lease was started; a later beginning keeps it until somebody leases that. */
  readonly startedAt: Date | null;
  readonly answer: string | null;
  readonly isLate: boolean;
}

export interface Lease {
  readonly executionId: string;
  readonly capability: string;
  readonly fence: number;
  readonly deadline: Date;
  readonly leaseUntil: Date;
}

/** The agent whose node asks, with what its credential says. */
export interface NodeRef extends Pick<AgentPrincipal, 'organizationId' | 'agentId' | 'epoch' | 'capabilities'> {}

/** What is leased and not started within this time can be leased again. */
export const LEASE_SECONDS = 30;
/** How long a row is kept after its deadline, so that a repeated or late result is known. */
const KEPT_DAYS = 7;

/**
 * In one statement, by one clock: an agent without a fresh node has nothing queued for it. A later beginning takes the row
 * over, unless the node of the one before has answered meanwhile.
 */
const QUEUE: NamedStatement = {
  name: 'node-queue-2',
  text: `insert into node_work as w (organization_id, execution_id, agent_id, status, execution_fence, yields, deadline, ended_at)
    select $1, $2, $3, case when n.fresh then 'queued' else 'withdrawn' end, $4, $5, clock_timestamp() + make_interval(secs => $6),
      case when n.fresh then null else clock_timestamp() end
    from (select exists (select from agents where organization_id = $1 and id = $3
      and node_last_seen > clock_timestamp() - make_interval(secs => ${NODE_FRESH_SECONDS})) as fresh) n
    on conflict (organization_id, execution_id) do update
    set status = excluded.status, execution_fence = excluded.execution_fence, yields = excluded.yields, deadline = excluded.deadline,
      ended_at = excluded.ended_at, queued_at = clock_timestamp(), lease_until = null, epoch = null
    where w.execution_fence < excluded.execution_fence and w.status <> 'answered'`,
};

/** What waits for a node with a credential of epoch $3: of executions that run, and of the beginning that they are at. */
const WAITING = `node_work w
      join executions e on e.organization_id = w.organization_id and e.id = w.execution_id and e.status = 'running'
        and e.fence = w.execution_fence
      where w.organization_id = $1 and w.agent_id = $2 and w.deadline > clock_timestamp() and (w.status = 'queued'
        or w.status = 'leased' and (w.lease_until <= clock_timestamp() or w.epoch is distinct from $3))`;

const LEASE: NamedStatement = {
  name: 'node-lease-2',
  text: `update node_work w
    set status = 'leased', fence = w.fence + 1, epoch = $3, lease_until = clock_timestamp() + make_interval(secs => ${LEASE_SECONDS}),
      started_at = null
    from (select w.organization_id, w.execution_id, e.capability from ${WAITING} and ($4::text[] is null or e.capability = any($4))
      order by w.queued_at, w.execution_id limit 1 for update of w skip locked) next
    where w.organization_id = next.organization_id and w.execution_id = next.execution_id
    returning w.execution_id as "executionId", next.capability, w.fence, w.deadline, w.lease_until as "leaseUntil"`,
};

const WITHHELD: NamedStatement = {
  name: 'node-withheld-1',
  text: `select e.capability from ${WAITING} and not e.capability = any($4::text[]) limit 1`,
};

const WITHDRAW = `update node_work set status = 'withdrawn', ended_at = clock_timestamp()
  where organization_id = $1 and execution_id = $2 and execution_fence = $3 and status in ('queued', 'leased') returning execution_id`;

const COLUMNS = `w.organization_id as "organizationId", w.execution_id as "executionId", w.execution_fence as "executionFence",
  w.agent_id as "agentId", w.status, w.fence, w.yields, w.deadline, w.started_at as "startedAt", w.answer, w.is_late as "isLate"`;

/**
 * The work of nodes. Each change is a compare-and-set of one row, so that of a start and a withdrawal one comes first. Queueing, leasing
 * and withdrawing change nothing else, and go past units of work.
 */
@Injectable()
export class NodeWorkStore {
  constructor(
    private readonly statements: Statements,
    janitor: Janitor,
  ) {
    janitor.register(forgetOver);
  }

  /** Queues it, or writes it down as withdrawn where the agent has no fresh node. Doing it again changes nothing. */
  async queue(work: NewWork): Promise<void> {
    await this.statements.run(QUEUE, [work.organizationId, work.executionId, work.agentId, work.executionFence, work.yields, work.seconds]);
  }

  /** The oldest work that waits for a node of the agent, of what the credential holds. */
  async lease({ organizationId, agentId, epoch, capabilities }: NodeRef): Promise<Lease | undefined> {
    const allowed = capabilities === 'any' ? null : capabilities;
    const [lease] = await this.statements.run<Lease>(LEASE, [organizationId, agentId, epoch, allowed]);
    return lease;
  }

  /** A capability that the credential does not hold, and of which work waits for a node of the agent. */
  async withheld({ organizationId, agentId, epoch, capabilities }: NodeRef): Promise<string | undefined> {
    if (capabilities === 'any') return undefined;
    const [row] = await this.statements.run<{ capability: string }>(WITHHELD, [organizationId, agentId, epoch, capabilities]);
    return row?.capability;
  }

  /** @returns false where somebody has started it, or it is over */
  async withdraw({ organizationId, executionId, executionFence }: WorkKey): Promise<boolean> {
    const rows = await this.statements.run({ name: 'node-withdraw-1', text: WITHDRAW }, [organizationId, executionId, executionFence]);
    return rows.length === 1;
  }

  async withdrawWithin(tx: Tx, { organizationId, executionId, executionFence }: WorkKey): Promise<void> {
    await tx.query(WITHDRAW, [organizationId, executionId, executionFence]);
  }

  /** The row, locked until this unit of work ends. */
  async read(tx: Tx, { organizationId, executionId }: Pick<WorkKey, 'organizationId' | 'executionId'>): Promise<Work | undefined> {
    const rows = await tx.query<Work & Record<string, unknown>>(
      `select ${COLUMNS} from node_work w where w.organization_id = $1 and w.execution_id = $2 for update`, [organizationId, executionId]);
    return rows[0];
  }

  /** Compare-and-set on the lease: on its number, its time, and the epoch of who took it. @returns false where it does not hold any more */
  async start(tx: Tx, { organizationId, executionId, fence }: Work, epoch: number): Promise<boolean> {
    const rows = await tx.query(
      `update node_work set status = 'started', started_at = clock_timestamp()
       where organization_id = $1 and execution_id = $2 and status = 'leased' and fence = $3 and epoch = $4
         and lease_until > clock_timestamp() and deadline > clock_timestamp() returning execution_id`,
      [organizationId, executionId, fence, epoch]);
    return rows.length === 1;
  }

  /**
   * Compare-and-set on the lease, and on that it was started and not answered.
   *
   * @throws Error where another was first. The head's lock rules that out; should it ever fail to, the unit of work is rolled back
   */
  answer(tx: Tx, { organizationId, executionId, fence }: Work, answer: string, isLate: boolean): void {
    tx.assertRowCount(
      `update node_work set status = 'answered', ended_at = clock_timestamp(), answer = $4, is_late = $5
       where organization_id = $1 and execution_id = $2 and started_at is not null and status <> 'answered' and fence = $3
       returning execution_id`,
      [organizationId, executionId, fence, answer, isLate], 1,
      () => new Error(`the work of ${executionId} was no longer started`));
  }
}

const forgetOver = cleanupStep(
  `delete from node_work where (organization_id, execution_id) in
     (select organization_id, execution_id from node_work where deadline < clock_timestamp() - make_interval(days => $2) limit $1)`,
  KEPT_DAYS,
);
