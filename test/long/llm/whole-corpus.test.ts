import { corpus } from '../../../bench/pii/corpus.js';
import { corpusGoesThrough } from '../../support/llm/corpus-story.js';

corpusGoesThrough([...corpus('tuned'), ...corpus('held-out')]);
