import { decideChain } from '../../domain/gate/decide-chain.js';
import { decide, type GateCall, type GateDecision } from '../../domain/gate/decide.js';
import type { UsedUp, Use } from '../../domain/gate/limits.js';
import { type Quorum, stricterQuorum } from '../../domain/hitl/quorum.js';
import type { GrantUse } from '../capabilities/grant-usage.store.js';
import type { Facts } from './facts.js';

/** What is used up of the limits of a grant, apart from the call that is decided. */
export type UsedOf = (facts: Facts) => UsedUp | undefined;

const asRead: UsedOf = ({ usage }) => usage?.used;

/** The gate's decision over facts: of the agent alone or, where the call does a task, of every agent of its chain. */
export function decideByFacts(facts: Facts, call: GateCall, usedOf: UsedOf = asRead): GateDecision {
  const own = decideAlone(facts, call, usedOf);
  const { task } = facts;
  if (!task) return own;
  if (task.refused !== undefined) return notThisTask(task.refused, own);
  if (task.delegators.length === 0) return own;
  // The token is the acting agent's; of the others their grants are asked.
  const delegated: GateCall = { ...call, tokenCapabilities: 'any', now: facts.now };
  return decideChain(own, facts.grant?.id, task.delegators.map(({ agentId, facts: theirs }) => ({
    agentId,
    riskLevel: theirs.agent?.riskLevel ?? 'limited',
    ...(theirs.grant ? { grantId: theirs.grant.id } : {}),
    decision: decideAlone(theirs, delegated, usedOf),
  })));
}

/** What is to be counted, each use by its grant. */
export function grantUses({ grant }: Facts, uses: readonly Use[]): GrantUse[] {
  return uses.flatMap((use) => {
    const grantId = use.grantId ?? grant?.id;
    return grantId === undefined ? [] : [{ ...use, grantId }];
  });
}

/** Whether a grant of the agent, or of another agent of a task's chain, has limits. */
export function hasLimits({ usage, task }: Facts): boolean {
  return usage !== undefined || (task?.delegators.some(({ facts }) => facts.usage !== undefined) ?? false);
}

/** The strictest quorum that the grants of the agent, and of the other agents of a task's chain, ask for. */
export function quorumByFacts({ grant, task }: Facts): Quorum | null {
  const others = task?.delegators.map(({ facts }) => facts.grant?.quorum ?? null) ?? [];
  return others.reduce<Quorum | null>(stricterQuorum, grant?.quorum ?? null);
}

/** The gate's decision for one agent, whatever chain its call belongs to. */
export function decideAlone(facts: Facts, call: GateCall, usedOf: UsedOf = asRead): GateDecision {
  if (!facts.agent) return refused('AGENT_INACTIVE', 'The agent is gone.');
  const used = usedOf(facts);
  return decide({
    agent: facts.agent,
    stops: facts.stops,
    ...(facts.unanchored ? { unanchored: true } : {}),
    ...(used ? { used } : {}),
    ...(facts.definition ? { definition: facts.definition } : {}),
    ...(facts.grant ? { grant: facts.grant } : {}),
    call,
  });
}

/** A token that lacks the capability is told that alone. */
function notThisTask(detail: string, own: GateDecision): GateDecision {
  return own.kind === 'refuse' && !own.recorded ? own : { ...refused('FORBIDDEN', detail), recorded: false };
}

function refused(code: 'AGENT_INACTIVE' | 'FORBIDDEN', detail: string) {
  const rule = code === 'FORBIDDEN' ? ('task' as const) : ('agent_status' as const);
  return { kind: 'refuse' as const, code, recorded: true, detail, reasons: [{ rule, detail }], flagged: false };
}
