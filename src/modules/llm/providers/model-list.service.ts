import { Injectable } from '@nestjs/common';
import { isJsonObject, type JsonObject } from '../../../domain/json.js';
import { ANTHROPIC_VERSION } from '../../../domain/llm/family.js';
import { runs } from '../../../domain/llm/model-provider.js';
import { Deadline } from '../../gate/runtimes/deadline.js';
import { Cancellation } from '../calls/cancellation.js';
import { readWhole } from './answer-body.js';
import { askProvider } from './ask-provider.js';
import { type ConnectedProvider, ModelProviders } from './model-providers.js';

const ASK_WITHIN_MS = 10_000;
const KEPT_MS = 60_000;
const LIST_BYTES_MAX = 4 * 1024 * 1024;

/** A model that a provider runs. */
export interface ListedModel {
  readonly id: string;
  readonly provider: string;
  readonly createdAt: Date;
  readonly displayName: string;
}

/** The models that may be named, as their providers list them: of one that is away, those that its patterns name whole. */
@Injectable()
export class ModelListService {
  private readonly kept = new Map<string, { readonly until: number; readonly models: Promise<readonly ListedModel[]> }>();

  constructor(private readonly providers: ModelProviders) {}

  async list(): Promise<ListedModel[]> {
    const lists = await Promise.all(this.providers.all.map((provider) => this.of(provider)));
    const own = lists.flat().filter(({ id, provider }) => this.providers.forModel(id)?.name === provider);
    return [...new Map(own.map((model) => [model.id, model])).values()];
  }

  private of(provider: ConnectedProvider): Promise<readonly ListedModel[]> {
    const kept = this.kept.get(provider.name);
    if (kept && kept.until > performance.now()) return kept.models;
    const models = listOf(provider).catch(() => named(provider));
    this.kept.set(provider.name, { until: performance.now() + KEPT_MS, models });
    return models;
  }
}

async function listOf(provider: ConnectedProvider): Promise<readonly ListedModel[]> {
  const deadline = Deadline.in(ASK_WITHIN_MS);
  const cancellation = new Cancellation(deadline);
  try {
    const path = provider.family === 'openai' ? '/models' : '/v1/models?limit=1000';
    const headers: Record<string, string> = provider.family === 'openai' ? {} : { 'anthropic-version': ANTHROPIC_VERSION };
    const answer = await askProvider(provider, { method: 'GET', path, headers, signal: cancellation.signal, deadline });
    if (answer.kind === 'failed') return named(provider);
    const { data } = await readWhole(answer.response.body, LIST_BYTES_MAX);
    const listed = Array.isArray(data) ? data.filter(isJsonObject).flatMap((model) => modelIn(model, provider)) : [];
    return [...listed, ...named(provider).filter(({ id }) => !listed.some((model) => model.id === id))];
  } finally {
    cancellation.close();
  }
}

function modelIn(listed: JsonObject, { models, name: provider }: ConnectedProvider): ListedModel[] {
  const { id, created, created_at: createdAt, display_name: name } = listed;
  if (typeof id !== 'string' || !runs(models, id)) return [];
  const at = typeof created === 'number' ? created * 1_000 : typeof createdAt === 'string' ? Date.parse(createdAt) : 0;
  const isTime = Number.isFinite(at) && Math.abs(at) <= 8.64e15;
  return [{ id, provider, createdAt: new Date(isTime ? at : 0), displayName: typeof name === 'string' ? name : id }];
}

function named({ models, name: provider }: ConnectedProvider): ListedModel[] {
  const whole = models.filter((pattern) => !pattern.includes('*'));
  return whole.map((id) => ({ id, provider, createdAt: new Date(0), displayName: id }));
}
