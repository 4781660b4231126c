import { corpus } from '../../../bench/pii/corpus.js';
import { corpusGoesThrough } from '../../support/llm/corpus-story.js';

// All of it: `npm run prove -- whole-corpus`.
corpusGoesThrough([...corpus('tuned'), ...corpus('held-out')].filter((_, index) => index % 36 === 0));
