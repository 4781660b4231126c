import { ApiProperty } from '@nestjs/swagger';
import { isHardcoded } from '../../../domain/gate/catalogue.js';
import type { HitlMode } from '../../../domain/gate/vocabulary.js';
import type { GrantEntity } from '../../capabilities/grant.entity.js';
import type { AgentEntity } from '../agent.entity.js';

const WARNINGS = ['ALWAYS_ESCALATES', 'EXPIRED', 'MILDER_TWIN', 'ADMINS_ONLY', 'NOBODY', 'ROOT_NEEDED'] as const;

/** What was accepted and may not be what was meant. */
export class WarningReply {
  @ApiProperty({ example: 'ALWAYS_ESCALATES', enum: WARNINGS }) code!: string;
  @ApiProperty() detail!: string;
  @ApiProperty({ description: 'Of the member that causes it.', example: '/hitlMode' }) pointer!: string;
}

/** A grant as it was written, and what stands beside it. */
export interface GrantContext {
  readonly effectiveMode: HitlMode;
  /** Whose requests the grant makes; absent for a team's grant. */
  readonly agent?: Pick<AgentEntity, 'ownerId' | 'registeredBy' | 'teamId' | 'riskLevel'>;
  /** The same holder's active grant of the capability that differs in `.` and `:` alone, with its mode. */
  readonly twin?: { readonly capability: string; readonly effectiveMode: HitlMode } | undefined;
  /** How many people could answer what the grant makes the agent ask, as one who vouched and whom they vouched for are one. */
  readonly approvers?: number;
  readonly now: Date;
  /** JSON pointer of the grant in the body. */
  readonly pointer: string;
}

/** @returns what the maker of a grant should know, though the grant is accepted */
export function warningsOf(grant: GrantEntity, { effectiveMode, agent, twin, approvers, now, pointer }: GrantContext): WarningReply[] {
  const warnings: WarningReply[] = [];
  const warn = (code: string, member: string, detail: string) => warnings.push({ code, detail, pointer: `${pointer}/${member}` });
  const { capability, hitlMode, expiresAt } = grant;
  if (isHardcoded(capability) && hitlMode !== 'escalate') {
    warn('ALWAYS_ESCALATES', 'hitlMode', `${capability} always escalates, whatever a grant says.`);
  }
  if (expiresAt && expiresAt <= now) {
    warn('EXPIRED', 'expiresAt', 'This time has passed, so this grant is none; a grant of the agent\'s team may apply.');
  }
  if (twin && twin.effectiveMode !== effectiveMode) {
    warn('MILDER_TWIN', 'capability',
      `${capability} (${effectiveMode}) and ${twin.capability} (${twin.effectiveMode}) are two capabilities; the milder one can be used.`);
  }
  if (approvers === 0) {
    warn('NOBODY', 'capability', 'There is nobody who could answer the requests: only root can, until the organization has admins.');
  } else if (agent && mayAsk(grant, effectiveMode) && effectiveMode !== 'escalate' && agent.ownerId === null && agent.teamId === null) {
    warn('ADMINS_ONLY', 'capability', 'The agent has no owner and no team, so that admins and owners alone can answer its requests.');
  }
  if (grant.quorum && approvers !== undefined && approvers > 0 && approvers < grant.quorum.approvals) {
    const { approvals } = grant.quorum;
    warn('ROOT_NEEDED', 'quorum/approvals', `${approvers} of ${approvals} could approve: without root's vote it is not reached.`);
  }
  return warnings;
}

/** Whether the grant can make its agent ask people: by its mode, or where a condition or a limit is stricter. */
export function mayAsk({ conditions, limits }: GrantEntity, effectiveMode: HitlMode): boolean {
  const asks = (mode: string) => mode === 'propose' || mode === 'escalate';
  return asks(effectiveMode) || conditions.some(({ hitlMode }) => asks(hitlMode)) || limits.some(({ then }) => asks(then));
}

/** The name with `.` for `:` and the other way around. */
export const twinOf = (capability: string): string => capability.replace(/[.:]/g, (sign) => (sign === '.' ? ':' : '.'));
