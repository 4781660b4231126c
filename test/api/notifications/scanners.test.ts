import { judgeScanners } from '../../support/notifications/scanners.js';

// `npm run prove` takes a thousand visits.
judgeScanners(64);
