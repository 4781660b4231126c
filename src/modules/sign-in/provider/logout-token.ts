import { Inject, Injectable } from '@nestjs/common';
import { errors, jwtVerify } from 'jose';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import { ProviderKeys } from './provider-keys.js';
import { ALGORITHMS, ProviderMetadata } from './provider-metadata.js';

/** What the member `events` of a logout token must name (OpenID Connect Back-Channel Logout 1.0, section 2.4). */
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const TYPES: readonly unknown[] = [undefined, 'logout+jwt', 'application/logout+jwt', 'JWT'];
/** Seconds: how old one may be, and how far ahead the provider's clock. */
const OLDEST = 120;
const AHEAD = 30;
const TEXT_MAX = 255;

/** Whose sessions the provider has ended: one of its own, or all of a user's. */
export interface LogoutToken {
  readonly sid?: string;
  readonly sub?: string;
  /** The token's own name, by which it is taken once. */
  readonly id: string;
  /** When it would be too old. */
  readonly until: Date;
}
