import type { Problem } from '../../../platform/http/reply/problem.js';
import { invalid } from '../../../platform/http/fields/read-members.js';

/** The refusal of a model that no provider is set up for. */
export function runByNobody(): Problem {
  const message = 'is run by no provider of this installation: GET /api/v1/llm/models lists those that are';
  return invalid([{ pointer: '/model', message }]);
}
