import { Inject, Injectable } from '@nestjs/common';
import type { DecisionLinks, ShownRequest } from '../../../domain/notifications/message.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import type { Addressee } from '../senders/sender.js';
import { MailTokenStore } from './mail-token.store.js';

/** Addresses of the pages on which people decide (interface, section 6: `approve_url`, `reject_url`). */
@Injectable()
export class DecisionLinksService {
  constructor(
    @Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'appUrl'>,
    private readonly work: UnitOfWork,
    private readonly tokens: MailTokenStore,
  ) {}

  of(requestId: string): DecisionLinks {
    const page = `${this.config.appUrl}/hitl/${encodeURIComponent(requestId)}`;
    return { approve: `${page}/approve`, reject: `${page}/reject` };
  }

  /** For one person's mail: where the organization lets mails decide, and this request may be decided so, with a token that does. */
  async forMail({ id, organizationId, digest }: ShownRequest, { userId }: Addressee): Promise<DecisionLinks> {
    const links = this.of(id);
    const terms = { organizationId, requestId: id, digest, userId };
    const token = await this.work.run({ chains: [], leavesFacts: true }, (tx) => this.tokens.issue(tx, terms));
    return token === undefined ? links : { approve: `${links.approve}?token=${token}`, reject: `${links.reject}?token=${token}` };
  }
}
