import { Module } from '@nestjs/common';
import { ProviderTrustModule } from '../provider/provider-trust.module.js';
import { PersonalKeySource } from './personal-key.source.js';
import { ProviderTokenSource } from './provider-token.source.js';

/** What people show in `Authorization`: their own keys, and the identity provider's tokens. */
@Module({ imports: [ProviderTrustModule], providers: [ProviderTokenSource, PersonalKeySource] })
export class BearerModule {}
