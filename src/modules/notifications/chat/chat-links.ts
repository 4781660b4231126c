import { Inject, Injectable } from '@nestjs/common';
import { isJsonObject } from '../../../domain/json.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { parseStrictJson } from '../../../platform/http/request/strict-json.js';
import { SealedBox } from '../../../platform/secrets/sealed-box.js';
import type { ChatUser } from './chat-account.store.js';

/** Of whom a chat account is to be linked, as the chat has signed it. */
export interface LinkedChatUser extends ChatUser {
  readonly organizationId: string;
  /** As the chat calls them; of no weight. */
  readonly workspaceName: string;
  readonly userName: string;
}

export interface ChatLink extends LinkedChatUser {
  readonly until: Date;
  /** The link's own text. */
  readonly text: string;
}

const GOOD_FOR_MS = 600_000;
const TEXT = /^[A-Za-z0-9_-]{40,1500}$/;
const BELONGS_TO = 'slack';

/**
 * Links that lead somebody from a chat to the page where they link their account: sealed, so that nothing is stored and nobody but this
 * installation can make or read one.
 */
@Injectable()
export class ChatLinks {
  constructor(
    private readonly box: SealedBox,
    @Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'appUrl'>,
  ) {}

  /** @returns the address of the page */
  make(user: LinkedChatUser): string {
    const sealed = this.box.seal('chat-links', BELONGS_TO, Buffer.from(JSON.stringify({ ...user, until: Date.now() + GOOD_FOR_MS })));
    return `${this.config.appUrl}/chat-accounts/link?link=${sealed.toString('base64url')}`;
  }

  /** @returns undefined for what is no link of ours, or is past its ten minutes */
  read(text: unknown): ChatLink | undefined {
    if (typeof text !== 'string' || !TEXT.test(text)) return undefined;
    const sealed = Buffer.from(text, 'base64url');
    // Several spellings can stand for the same bytes, and the link is good once.
    if (sealed.toString('base64url') !== text) return undefined;
    const opened = this.box.open('chat-links', BELONGS_TO, sealed);
    const parsed = opened && parseStrictJson(opened);
    if (!parsed?.ok || !isJsonObject(parsed.value)) return undefined;
    const { until, ...user } = parsed.value as unknown as LinkedChatUser & { until: number };
    return until > Date.now() ? { ...user, until: new Date(until), text } : undefined;
  }
}
