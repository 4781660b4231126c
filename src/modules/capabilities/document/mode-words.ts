import { HARDCODED } from '../../../domain/gate/catalogue.js';
import { GRANT_WORDS, HITL_MODES, TIMEOUT_ACTIONS } from '../../../domain/gate/vocabulary.js';
import { namedWords } from '../../../platform/http/fields/named-schema.js';

/** The words of the gate as the API's document explains them: once each, wherever they stand. */
export const HITL_MODE = namedWords('HitlMode', HITL_MODES,
  `What the gate does with a call, from the mildest to the strictest:

- \`auto\`: it runs at once, and is recorded.
- \`notify\`: as \`auto\`, and people are notified.
- \`propose\`: a person is asked first, and it runs once it is approved. The request is \`pending\`, for the agent's owner and its team.
- \`escalate\`: as \`propose\`, but the request is \`escalated\` at once: only admins of the organization can approve it.
- \`block\`: it does not run, and nobody is asked.

Some capabilities are hardcoded and always escalate, whatever a grant says: ${HARDCODED.map((name) => `\`${name}\``).join(', ')}.`);

export const GRANT_WORD = namedWords('GrantWord', GRANT_WORDS,
  `What a grant says: one of the five modes (\`HitlMode\`), or one of three words for when a person is asked. At each call a word is turned
into a mode:

- \`never\`: never ask. It is \`auto\`: the agent may always do it.
- \`always\`: always ask. It is \`propose\`.
- \`on_risk\`: ask where the agent's risk level is \`high\` or \`unacceptable\`. Then it is \`propose\`, else \`auto\`.`);

export const TIMEOUT_ACTION = namedWords('TimeoutAction', TIMEOUT_ACTIONS,
  `What becomes of a request that nobody decides in time:

- \`reject\`: it is \`timed_out\`, which counts as a rejection: its action does not run.
- \`approve\`: it is approved, and its action runs. Never where an admin or several people have to approve.
- \`escalate\`: it goes to the next level, with a new window; at the highest it is as \`reject\`.
- \`notify_only\`: as \`reject\`.`);
