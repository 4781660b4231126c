import type { Connection } from '../connection.js';
import type { BodyOf, CallOptions, QueryOf } from '../operation.js';

/** The inbox of who calls, and where an organization is told. */
export class Notifications {
  constructor(private readonly connection: Connection) {}

  /** The inbox, newest first. */
  list(query?: QueryOf<'GET /api/v1/notifications'>, options?: CallOptions) {
    return this.connection.request('GET /api/v1/notifications', { query, ...options });
  }

  /** One of the inbox. */
  markRead(id: string, options?: CallOptions) {
    return this.connection.request('POST /api/v1/notifications/{id}/read', { path: { id }, ...options });
  }

  /** Settings of a channel, secrets masked. */
  getChannel(channel: string, query?: QueryOf<'GET /api/v1/notifications/config/{channel}'>, options?: CallOptions) {
    return this.connection.request('GET /api/v1/notifications/config/{channel}', { path: { channel }, query, ...options });
  }

  /** Settings that are left out stay; null takes one away. */
  setChannel(
    channel: string, body: BodyOf<'PUT /api/v1/notifications/config/{channel}'>,
    query?: QueryOf<'PUT /api/v1/notifications/config/{channel}'>, options?: CallOptions,
  ) {
    return this.connection.request('PUT /api/v1/notifications/config/{channel}', { path: { channel }, body, query, ...options });
  }

  /** The environment holds again, where it says something. */
  removeChannel(channel: string, query?: QueryOf<'DELETE /api/v1/notifications/config/{channel}'>, options?: CallOptions) {
    return this.connection.request('DELETE /api/v1/notifications/config/{channel}', { path: { channel }, query, ...options });
  }

  /** Sends a message to see whether it arrives. */
  testChannel(channel: string, query?: QueryOf<'POST /api/v1/notifications/config/{channel}/test'>, options?: CallOptions) {
    return this.connection.request('POST /api/v1/notifications/config/{channel}/test', { path: { channel }, query, ...options });
  }

  /** What was sent where, and what failed. */
  listDeliveries(query?: QueryOf<'GET /api/v1/notifications/deliveries'>, options?: CallOptions) {
    return this.connection.request('GET /api/v1/notifications/deliveries', { query, ...options });
  }

  /** Of one that was given up. */
  retryDelivery(id: string, options?: CallOptions) {
    return this.connection.request('POST /api/v1/notifications/deliveries/{id}/retry', { path: { id }, ...options });
  }
}
