import { Inject, Injectable } from '@nestjs/common';
import type { DecisionLinks, ShownRequest } from '../../../domain/notifications/message.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import type { Addressee } from '../senders/sender.js';

/** Addresses of the pages on which people decide (interface, section 6: `approve_url`, `reject_url`). */
@Injectable()
export class DecisionLinksService {
  constructor(@Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'appUrl'>) {}

  of(requestId: string): DecisionLinks {
    const page = `${this.config.appUrl}/hitl/${encodeURIComponent(requestId)}`;
    return { approve: `${page}/approve`, reject: `${page}/reject` };
  }

  /** For one person's mail. */
  async forMail(request: ShownRequest, _addressee: Addressee): Promise<DecisionLinks> {
    return this.of(request.id);
  }
}
