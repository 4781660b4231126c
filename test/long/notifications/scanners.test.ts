import { judgeScanners } from '../../support/notifications/scanners.js';

judgeScanners(1_000);
