import type { AgentTies, RequestTies } from '../../../domain/hitl/duties.js';
import type { HitlRequestEntity } from '../requests/hitl-request.entity.js';

/** The columns of a request that decide who may decide it. */
export type TieColumns = Pick<HitlRequestEntity,
  | 'escalationLevel' | 'createdAt' | 'createdBy' | 'separationOfDuties' | 'initiators' | 'agentOwnerId' | 'agentRegisteredBy' | 'teamId'
  | 'vouchedBy' | 'taskOwnerId'>;

export function tiesOf(request: TieColumns): RequestTies {
  const { createdBy, vouchedBy, taskOwnerId } = request;
  return {
    level: request.escalationLevel,
    createdAt: request.createdAt,
    separationOfDuties: request.separationOfDuties,
    // The caller of the request is an initiator too, where it was a person.
    initiators: [...request.initiators, createdBy],
    ...(vouchedBy === null ? {} : { vouchedBy }),
    ...(taskOwnerId === null ? {} : { taskOwnerId }),
    agent: agentTiesOf({ ownerId: request.agentOwnerId, registeredBy: request.agentRegisteredBy, teamId: request.teamId }),
  };
}

export function agentTiesOf({ ownerId, registeredBy, teamId }: Readonly<Record<keyof AgentTies, string | null>>): AgentTies {
  return {
    ...(ownerId === null ? {} : { ownerId }),
    ...(registeredBy === null ? {} : { registeredBy }),
    ...(teamId === null ? {} : { teamId }),
  };
}

/** Another account of an initiator's address, closed or of another organization of the tenant, is the same person as the initiator. */
export function withNamesake(ties: RequestTies, userId: string, isNamesake: boolean): RequestTies {
  return isNamesake ? { ...ties, initiators: [...ties.initiators, userId] } : ties;
}
