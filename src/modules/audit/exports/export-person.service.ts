import { Injectable } from '@nestjs/common';
import { reachOf } from '../../../domain/access/access.js';
import { personLines } from '../../../domain/audit/export/person-lines.js';
import type { PersonalDataPart } from '../../../domain/audit/export/record-lines.js';
import type { JsonObject } from '../../../domain/json.js';
import { PersonalDataHolders } from '../../../platform/audit/personal-data/personal-data-holders.js';
import type { FoundPerson } from '../../../platform/audit/personal-data/personal-records.js';
import { type Caller, kindOf } from '../../../platform/auth/access/principal.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { presentUser } from '../../organizations/users/users.presenter.js';
import { UsersQuery } from '../../organizations/users/users.query.js';
import { ExportsService, type ExportCall } from './exports.service.js';
import { organizationsAbout } from '../query/organizations.query.js';
import { recordExport } from './record-export.js';

/** Gives people a copy of what is kept of them. */
@Injectable()
export class ExportPersonService {
  constructor(
    private readonly desk: ExportsService,
    private readonly users: UsersQuery,
    private readonly holders: PersonalDataHolders,
    private readonly work: UnitOfWork,
  ) {}

  /** @throws Problem NOT_FOUND for somebody whom the caller does not reach; FORBIDDEN, UNAVAILABLE, RATE_LIMITED */
  async export(call: ExportCall, userId: string): Promise<void> {
    const { caller, format } = call;
    const user = await this.users.find(caller.scope, userId);
    if (!user) throw new Problem('NOT_FOUND', 'There is no such user.');
    assertMayExport(caller, userId);
    await this.desk.serve(call, async (source, { run }) => {
      const others = (await organizationsAbout(run, caller.scope, userId)).filter((id) => id !== user.organizationId);
      const event = { type: 'gdpr.export_requested', metadata: { userId, format } } as const;
      await recordExport(this.work, [user.organizationId], event);
      const profile = { ...presentUser(user) } satisfies JsonObject;
      const organizations = [user.organizationId, ...others];
      const selection = { userId, organizations, profile, records: this.recordsOf({ id: userId, organizations, run }) };
      const tally = { withheld: 0 };
      return { name: `countersign-${userId}`, tally, lines: (madeAt) => personLines(source, selection, madeAt, tally) };
    });
  }

  /** What modules hold of them, of the moment of which the file is. */
  private async *recordsOf(person: FoundPerson): AsyncGenerator<PersonalDataPart> {
    for (const holder of this.holders.all()) {
      for await (const part of holder.about(person)) yield { holder: holder.name, part };
    }
  }
}

function assertMayExport({ principal, actorId }: Caller, userId: string): void {
  const kind = kindOf(principal);
  if (kind === 'system' || reachOf('privacy.export', kind) === 'all' || actorId === userId) return;
  throw new Problem('FORBIDDEN', 'You may export your own data; an administrator may export that of others.');
}
