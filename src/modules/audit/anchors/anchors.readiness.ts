import { Inject, Injectable } from '@nestjs/common';
import { MaintenanceMode } from '../../../platform/audit/maintenance-mode.js';
import { type ReadinessFact, ReadinessFacts } from '../../../platform/audit/readiness-facts.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { UnanchoredAge } from './unanchored-age.js';
import { DatabaseIdentityMonitor } from './database-identity.service.js';
import { SharedFolders } from './shared-folders.js';

/** Without a limit of the operator's: longer than an anchor is away in passing. */
const TOO_OLD_SECONDS = 300;

/** What readiness reports of anchors: whether the installation is in maintenance mode, and how old the oldest unanchored entry is. */
@Injectable()
export class AnchorsReadiness implements ReadinessFact {
  readonly name = 'anchors';

  constructor(
    facts: ReadinessFacts,
    private readonly maintenance: MaintenanceMode,
    private readonly age: UnanchoredAge,
    private readonly watch: DatabaseIdentityMonitor,
    private readonly folders: SharedFolders,
    @Inject(CONFIG) private readonly config: CompleteConfig,
  ) {
    facts.register(this);
  }

  async look(): Promise<Record<string, number | string>> {
    const { because } = this.maintenance;
    if (because !== undefined) throw new Problem('UNAVAILABLE', because);
    const unanchoredSeconds = this.age.seconds;
    const warning = await this.warning(unanchoredSeconds);
    return { unanchoredSeconds, ...(warning === undefined ? {} : { anchorWarning: warning }) };
  }

  private async warning(unanchoredSeconds: number): Promise<string | undefined> {
    const { auditUnanchoredMaxSeconds: most = TOO_OLD_SECONDS } = this.config;
    if (unanchoredSeconds > most) return `Entries of ${unanchoredSeconds} seconds ago are not at every anchor yet.`;
    const { replicas } = this.watch;
    if (replicas <= 1 || (await this.folders.areShared())) return undefined;
    return `${replicas} servers use this database, and the folder of this one's file anchor is not the one that the leader writes.`;
  }
}
