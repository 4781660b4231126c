import { Module } from '@nestjs/common';
import { ProviderTrustModule } from '../provider/provider-trust.module.js';
import { ProviderTokenSource } from './provider-token.source.js';

/** Tokens of the identity provider as credentials of their own. */
@Module({ imports: [ProviderTrustModule], providers: [ProviderTokenSource] })
export class BearerModule {}
