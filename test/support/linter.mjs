// The repository's lint, asked again and again: each message names a folder and a check, each answer its findings.
import { CHECKS } from '../../scripts/lint/checks.mjs';

process.on('message', async ({ root, checks }) => {
  try {
    process.send({ findings: await CHECKS[checks](root, {}) });
  } catch (error) {
    process.send({ failed: error.stack });
  }
});
