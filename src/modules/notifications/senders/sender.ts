import type { ExternalChannel } from '../../../domain/notifications/events.js';
import type { Message } from '../../../domain/notifications/message.js';
import type { ChannelConfig } from '../channels/channel-config.js';

/** Of a channel that reaches people one by one: whom this delivery is for. */
export interface Addressee {
  readonly userId: string;
  readonly address: string;
  readonly name: string | null;
}

export interface Outgoing<Of extends ExternalChannel = ExternalChannel> {
  readonly message: Message;
  readonly config: ChannelConfig<Of>;
  /** Of mail alone. */
  readonly addressee?: Addressee;
  /** What the channel answered to the question about the same request, where a sender kept something of it: a Slack message's place. */
  readonly receipt?: string;
}

/**
 * What came of one attempt. `retry`: it may work later, after `afterMs` where the receiver said so; `isOfAddressee`: the
 * receiver works, and this one addressee does not now. `dead`: it never will. `gone`: the
 * receiver does not want any more (410), so the channel is switched off. Codes hold no words of anybody.
 */
export type SendOutcome =
  | { readonly kind: 'delivered'; readonly receipt?: string }
  | { readonly kind: 'retry'; readonly code: string; readonly afterMs?: number; readonly isOfAddressee?: true }
  | { readonly kind: 'dead'; readonly code: string }
  | { readonly kind: 'gone'; readonly code: string };

/** Puts a message into the form of one channel and sends it, in 10 s at most. Never throws for what a receiver does. */
export interface ChannelSender<Of extends ExternalChannel = ExternalChannel> {
  readonly channel: Of;
  send(outgoing: Outgoing<Of>): Promise<SendOutcome>;
}
