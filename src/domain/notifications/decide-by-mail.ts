import { isHardcoded } from '../gate/catalogue.js';
import { type SeparationOfDuties, stricterOf } from '../hitl/duties.js';
import { type EscalationLevel, HIGHEST_LEVEL } from '../hitl/transition.js';

/** What of an organization and a request says whether a link in a mail may decide it. */
export interface MailDecisionFacts {
  /** The organization's setting. */
  readonly decideByMail: boolean;
  /** When the request was made, and now. */
  readonly separationThen: SeparationOfDuties;
  readonly separationNow: SeparationOfDuties;
  readonly level: EscalationLevel;
  readonly hitlMode: 'propose' | 'escalate';
  readonly hasQuorum: boolean;
  readonly capability: string;
}

/**
 * Whether the link in a mail may decide a request without its recipient signing in (contract, section 8): only where the organization
 * wants it, where one person is enough, and of nothing that asks for an administrator. A mailbox is read by others more easily than a
 * session is taken over, so that strict separation of duties rules it out.
 */
export function mayDecideByMail(facts: MailDecisionFacts): boolean {
  const { decideByMail, separationThen, separationNow, level, hitlMode, hasQuorum, capability } = facts;
  return decideByMail && stricterOf(separationThen, separationNow) === 'standard' && level < HIGHEST_LEVEL && hitlMode === 'propose'
    && !hasQuorum && !isHardcoded(capability);
}
