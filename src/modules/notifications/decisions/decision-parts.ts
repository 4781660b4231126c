import { DecisionFactsQuery } from './decision-facts.query.js';
import { DecisionLinksService } from './decision-links.js';
import { DecisionPagesController } from './decision-pages.controller.js';
import { DecisionPages } from './decision-pages.service.js';
import { MailTokenSource } from './mail-token.source.js';
import { MailTokenStore } from './mail-token.store.js';

/** What the pages are made of on which people decide, and the links that lead to them. */
export const DECISION_PROVIDERS = [DecisionFactsQuery, DecisionLinksService, DecisionPages, MailTokenSource, MailTokenStore];
export const DECISION_CONTROLLERS = [DecisionPagesController];
