import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { FAMILIES } from '../../domain/llm/family.js';
import type { ModelProvider } from '../../domain/llm/model-provider.js';
import { checkoutRoot } from './checkout-root.js';
import type { Environment } from './config.schema.js';
import { baseUrl } from './value-types.js';

const OPENAI = 'https://api.openai.com/v1';
const ANTHROPIC = 'https://api.anthropic.com';
const OPENAI_MODELS = ['gpt-*', 'chatgpt-*', ...Array.from({ length: 10 }, (_, digit) => `o${digit}*`)];

const pattern = z.string().min(1).max(200).regex(/^[^\s]+$/, 'must have no blanks');

/** One provider of the file; what it does not know it refuses, since it would not be obeyed. */
const providerSchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, 'must be of a-z, 0-9, _ and -, up to 63 characters'),
  family: z.enum(FAMILIES),
  baseUrl: baseUrl(),
  /** The environment variable with its key; without one none is sent, as local servers have it. */
  keyVariable: z.string().regex(/^[A-Z][A-Z0-9_]*$/, 'must be the name of an environment variable').optional(),
  models: z.array(pattern).min(1).max(100),
  fallbacks: z.array(pattern).max(5).default([]),
});

const fileSchema = z.strictObject({ providers: z.array(providerSchema).min(1).max(50) });

/**
 * The providers of the file, then the two families as their own variables set them up: one without a key counts only where its
 * address is not the vendor's.
 *
 * @param problems gets one line for each thing that is wrong
 */
export function readModelProviders(environment: Environment, env: NodeJS.ProcessEnv, problems: string[]): ModelProvider[] {
  const { OPENAI_API_KEY: openaiKey, OPENAI_BASE_URL: openai } = environment;
  const { ANTHROPIC_API_KEY: anthropicKey, ANTHROPIC_BASE_URL: anthropic } = environment;
  const listed = fromFile(environment.LLM_PROVIDERS_FILE, env, problems);
  const own = [
    ...(openaiKey === undefined && openai === OPENAI ? [] : [of('openai', openai, openaiKey, OPENAI_MODELS)]),
    ...(anthropicKey === undefined && anthropic === ANTHROPIC ? [] : [of('anthropic', anthropic, anthropicKey, ['claude-*'])]),
  ];
  return [...listed, ...own.filter(({ name }) => !listed.some((other) => other.name === name))];
}

function of(family: ModelProvider['family'], url: string, key: string | undefined, models: readonly string[]): ModelProvider {
  return { name: family, family, baseUrl: url, models, fallbacks: [], ...(key === undefined ? {} : { key }) };
}

function fromFile(file: string | undefined, env: NodeJS.ProcessEnv, problems: string[]): ModelProvider[] {
  if (file === undefined) return [];
  const say = (message: string): [] => {
    problems.push(`LLM_PROVIDERS_FILE: ${message}`);
    return [];
  };
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(resolve(checkoutRoot(), file), 'utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return say('the file is no JSON');
    return say(`cannot read the file (${(error as NodeJS.ErrnoException).code ?? 'unknown error'})`);
  }
  const parsed = fileSchema.safeParse(content);
  if (!parsed.success) return say(parsed.error.issues.map(({ path, message }) => `/${path.join('/')} ${message}`).join('; '));
  const { providers } = parsed.data;
  const twin = providers.find(({ name }, at) => providers.findIndex((other) => other.name === name) < at);
  if (twin) return say(`two providers are called ${twin.name}`);
  return providers.flatMap(({ keyVariable, ...provider }) => {
    const key = keyVariable === undefined ? undefined : env[keyVariable]?.trim() || undefined;
    if (keyVariable !== undefined && key === undefined) return say(`${keyVariable}, which has the key of ${provider.name}, is not set`);
    return [{ ...provider, ...(key === undefined ? {} : { key }) }];
  });
}
