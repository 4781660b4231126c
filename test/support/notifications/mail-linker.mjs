// Makes the links of a person's mail about a request, as the delivery of that mail does.
import { DecisionLinksService } from '../../../dist/src/modules/notifications/decisions/decision-links.js';
import { asService } from '../../../dist/src/platform/auth/access/call-context.js';
import { app, obey } from '../servers/product.mjs';

const links = app.get(DecisionLinksService, { strict: false });

obey({ links: (request, userId) => asService('worker', () => links.forMail(request, { userId, address: 'unused', name: null })) });
