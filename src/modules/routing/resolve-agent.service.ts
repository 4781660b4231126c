import { Injectable } from '@nestjs/common';
import { newId } from '../../domain/ids.js';
import { rank, type Scored, type Wanted } from '../../domain/routing/score.js';
import { recordsNothing } from '../../platform/auth/access/call-context.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import { UnitOfWork } from '../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../platform/http/reply/problem.js';
import { invalid } from '../../platform/http/fields/read-members.js';
import { type Reply, reply } from '../../platform/http/reply/replies.js';
import { requestContext } from '../../platform/http/request/request-context.js';
import { DefinitionStore } from '../capabilities/definition.store.js';
import { OrganizationsQuery } from '../organizations/organizations.query.js';
import { type Candidates, CandidatesQuery } from './candidates.query.js';
import { type LoggedCandidate, type RoutingDecision, RoutingDecisionStore } from './routing-decision.store.js';
import type { ResolveDto } from './routing.dto.js';
import { presentDecision, type RoutingDecisionEnvelope } from './routing.presenter.js';

/** So many of the best, and as many of the rejected, are answered and logged (contract, section 8). */
const SHOWN = 20;

/** What a task asks for, apart from what the definitions say. */
export type Asked = Omit<Wanted, 'needsNode'> & { readonly organizationId: string; readonly description?: string | undefined };

/** The best, and what is shown and logged: those with some of the rejected. */
interface Ranked {
  readonly eligible: readonly Scored[];
  readonly candidates: readonly LoggedCandidate[];
}

/** Finds the agent for a task and writes down whom, and among whom. Grants and stops are judged again when the agent acts. */
@Injectable()
export class ResolveAgentService {
  private readonly rankings = new WeakMap<Candidates, Map<string, Ranked>>();

  constructor(
    private readonly work: UnitOfWork,
    private readonly organizations: OrganizationsQuery,
    private readonly candidates: CandidatesQuery,
    private readonly decisions: RoutingDecisionStore,
    private readonly definitions: DefinitionStore,
  ) {}

  /** @throws Problem NO_ELIGIBLE_AGENT, which is logged too; CAPABILITY_NOT_GRANTED to an agent that does not hold what it asks for */
  async resolve(body: ResolveDto, caller: Caller): Promise<Reply<RoutingDecisionEnvelope>> {
    const asked: Asked = {
      organizationId: await this.organizations.choose(caller.scope, body.organizationId),
      capabilities: capabilitiesOf(body), description: body.description, tags: body.tags ?? [], exclude: body.exclude ?? [], chain: [],
      ...(body.teamId === undefined ? {} : { teamId: body.teamId }),
    };
    const found = await this.candidates.read(asked.organizationId, asked);
    assertOwnRights(asked, found, caller);
    const decision = this.decisionOf(asked, found, caller.actorId);
    // The routing log is a log of its own: to ask who could do something governs nothing.
    recordsNothing();
    const answer = () => ({ decision: presentDecision(shownTo(caller, decision)) });
    if (requestContext.getStore()?.idempotency) {
      const kept = await this.work.run({ chains: [], leavesFacts: true }, async (tx) => {
        this.decisions.insert(tx, decision);
        return decision.agentId === null ? undefined : tx.reply(200, answer());
      });
      return kept ?? this.refuse(decision);
    }
    await this.decisions.append(decision);
    return decision.agentId === null ? this.refuse(decision) : reply(200, answer());
  }

  /** The decision about who does a delegated task, logged. @throws Problem NO_ELIGIBLE_AGENT */
  async find(asked: Asked, caller: Caller): Promise<RoutingDecision & { readonly agentId: string }> {
    const decision = this.decisionOf(asked, await this.candidates.read(asked.organizationId, asked), caller.actorId);
    await this.decisions.append(decision);
    const { agentId } = decision;
    return agentId === null ? this.refuse(decision) : { ...decision, agentId };
  }

  private decisionOf(asked: Asked, found: Candidates, askedBy: string): RoutingDecision {
    const { eligible: [best], candidates } = this.ranked(asked, found);
    return {
      organizationId: asked.organizationId, id: newId('rte'), capabilities: [...asked.capabilities], description: asked.description ?? null,
      tags: [...asked.tags], teamId: asked.teamId ?? null, exclude: [...asked.exclude], agentId: best?.agentId ?? null,
      agentName: found.agents.find(({ id }) => id === best?.agentId)?.name ?? null, score: best?.score ?? null,
      candidates, askedBy, createdAt: new Date(),
    };
  }

  /** Calls that share what was read, and ask the same of it, share its order too. */
  private ranked({ organizationId: _, description: __, ...wanted }: Asked, found: Candidates): Ranked {
    const { agents, needsNode } = found;
    const key = JSON.stringify(wanted);
    const known = this.rankings.get(found) ?? new Map<string, Ranked>();
    this.rankings.set(found, known);
    let ranked = known.get(key);
    if (!ranked) {
      const { eligible, rejected } = rank(agents, { ...wanted, needsNode }, SHOWN);
      ranked = { eligible, candidates: [...eligible, ...rejected] };
      known.set(key, ranked);
    }
    return ranked;
  }

  /** Where it is a capability that is missing, nobody could hold it. */
  private async refuse({ id, organizationId, capabilities, candidates }: RoutingDecision): Promise<never> {
    const unknown = await Promise.all(capabilities.map((one) => this.definitions.whyUnknown(organizationId, one)));
    const reasons = [...new Set(candidates.flatMap((one) => ('rejectedBecause' in one ? [one.rejectedBecause] : [])))];
    const ofAgents = reasons.length === 0 ? 'There is no agent.' : `Those looked at are rejected: ${reasons.join(', ')}.`;
    const why = unknown.find((one) => one !== undefined) ?? ofAgents;
    throw new Problem('NO_ELIGIBLE_AGENT', `${why} The routing log has it as ${id}.`);
  }
}

/** An agent is not told who else there is. */
export function shownTo({ principal }: Caller, decision: RoutingDecision): RoutingDecision {
  if (principal.kind !== 'agent') return decision;
  return { ...decision, candidates: decision.candidates.filter(({ agentId }) => agentId === decision.agentId) };
}

function capabilitiesOf({ capability, capabilities }: ResolveDto): string[] {
  if (capability !== undefined && capabilities !== undefined) {
    throw invalid([{ pointer: '/capabilities', message: 'give either this or capability' }]);
  }
  const named = capabilities ?? (capability === undefined ? [] : [capability]);
  if (named.length === 0) throw invalid([{ pointer: '/capability', message: 'is required, unless capabilities says which' }]);
  return [...new Set(named)];
}

/** "Within its rights": an agent asks for what its token and its grants hold. */
function assertOwnRights({ capabilities }: Asked, { agents }: Candidates, { principal }: Caller): void {
  if (principal.kind !== 'agent') return;
  const own = agents.find(({ id }) => id === principal.agentId);
  const inToken = (capability: string) => principal.capabilities === 'any' || principal.capabilities.includes(capability);
  const missing = capabilities.find((one) => !inToken(one) || !own?.holds.includes(one) || own.blocked.includes(one));
  if (missing === undefined) return;
  throw new Problem('CAPABILITY_NOT_GRANTED', `An agent asks for what it holds itself, and this one may not do ${missing}.`);
}
