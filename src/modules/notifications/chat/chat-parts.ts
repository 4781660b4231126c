import { ChatAccountSource } from './chat-account.source.js';
import { ChatAccountStore } from './chat-account.store.js';
import { ChatAccountsController } from './chat-accounts.controller.js';
import { ChatAccountsQuery } from './chat-accounts.query.js';
import { ChatAccountsService } from './chat-accounts.service.js';
import { ChatDecisions } from './chat-decisions.service.js';
import { ChatLinkPagesController } from './chat-link-pages.controller.js';
import { ChatLinkPages } from './chat-link-pages.service.js';
import { ChatLinks } from './chat-links.js';
import { SlackAnswers } from './slack-answers.js';
import { SlackCallbacksController } from './slack-callbacks.controller.js';
import { SlackCallbacks } from './slack-callbacks.service.js';

/** What is needed to decide from a chat: its calls, and whose account there is whose here. */
export const CHAT_PROVIDERS = [
  ChatAccountSource, ChatAccountStore, ChatAccountsQuery, ChatAccountsService, ChatDecisions, ChatLinkPages, ChatLinks,
  SlackAnswers, SlackCallbacks,
];
export const CHAT_CONTROLLERS = [SlackCallbacksController, ChatAccountsController, ChatLinkPagesController];
