import type { BodyOf, CallOptions, QueryOf } from '../operation.js';
import { Client } from './client.js';

/** The inbox of who calls, and where an organization is told. */
export class Notifications extends Client {
  /** The inbox, newest first. */
  readonly list = this.byQuery('GET /api/v1/notifications');
  /** One of the inbox. */
  readonly markRead = this.byId('POST /api/v1/notifications/{id}/read');
  /** Settings of a channel, secrets masked. */
  readonly getChannel = this.byIdAndQuery('GET /api/v1/notifications/config/{channel}');
  /** Settings that are left out stay; null takes one away. */
  setChannel(
    channel: string, body: BodyOf<'PUT /api/v1/notifications/config/{channel}'>,
    query?: QueryOf<'PUT /api/v1/notifications/config/{channel}'>, options?: CallOptions,
  ) {
    return this.connection.request('PUT /api/v1/notifications/config/{channel}', { path: { channel }, body, query, ...options });
  }

  /** The environment holds again, where it says something. */
  readonly removeChannel = this.byIdAndQuery('DELETE /api/v1/notifications/config/{channel}');
  /** Sends a message to see whether it arrives. */
  readonly testChannel = this.byIdAndQuery('POST /api/v1/notifications/config/{channel}/test');
  /** What was sent where, and what failed. */
  readonly listDeliveries = this.byQuery('GET /api/v1/notifications/deliveries');
  /** Of one that was given up. */
  readonly retryDelivery = this.byId('POST /api/v1/notifications/deliveries/{id}/retry');
}
