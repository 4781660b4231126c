import type { DecisionLinks } from '../../../src/domain/notifications/message.js';
import type { DecisionLinksService } from '../../../src/modules/notifications/decisions/decision-links.js';

/** Links as they are where no mail decides, which needs no database. */
export function plainLinks(appUrl: string): DecisionLinksService {
  const of = (id: string): DecisionLinks => ({ approve: `${appUrl}/hitl/${id}/approve`, reject: `${appUrl}/hitl/${id}/reject` });
  const forMail: DecisionLinksService['forMail'] = async ({ id }) => of(id);
  return { of, forMail } as unknown as DecisionLinksService;
}
