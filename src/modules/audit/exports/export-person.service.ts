import { Injectable } from '@nestjs/common';
import { reachOf } from '../../../domain/access/access.js';
import { organizationChain } from '../../../domain/audit/chain.js';
import { personLines } from '../../../domain/audit/export/person-lines.js';
import type { JsonObject } from '../../../domain/json.js';
import { PersonalDataHolders } from '../../../platform/audit/personal-data.js';
import { type Caller, kindOf } from '../../../platform/auth/principal.js';
import { UnitOfWork } from '../../../platform/database/unit-of-work.js';
import { Problem } from '../../../platform/http/problem.js';
import { presentUser } from '../../organizations/users.presenter.js';
import { type UserRow, UsersQuery } from '../../organizations/users.query.js';
import { ExportDesk, type ExportCall } from './export-desk.js';
import { organizationsAbout } from './exported-organizations.query.js';

/** Gives people a copy of what is kept of them. */
@Injectable()
export class ExportPersonService {
  constructor(
    private readonly desk: ExportDesk,
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
      const records = await this.collect(user, format);
      const profile = { ...presentUser(user) } satisfies JsonObject;
      const selection = { userId, organizations: [user.organizationId, ...others], profile, records };
      const tally = { withheld: 0 };
      return { name: `countersign-${userId}`, tally, lines: (madeAt) => personLines(source, selection, madeAt, tally) };
    });
  }

  /** What modules hold of them, and the record that it was asked for, in one unit of work. */
  private collect({ id, organizationId }: UserRow, format: string): Promise<JsonObject> {
    const chain = organizationChain(organizationId);
    return this.work.run({ chains: [chain], leavesFacts: true }, async (tx) => {
      const records: JsonObject = {};
      for (const holder of this.holders.all()) records[holder.name] = await holder.about(tx, id);
      tx.record(chain, { type: 'gdpr.export_requested', metadata: { userId: id, format } });
      return records;
    });
  }
}

function assertMayExport({ principal, actorId }: Caller, userId: string): void {
  const kind = kindOf(principal);
  if (kind === 'system' || reachOf('privacy.export', kind) === 'all' || actorId === userId) return;
  throw new Problem('FORBIDDEN', 'You may export your own data; an administrator may export that of others.');
}
