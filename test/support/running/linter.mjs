// The repository's lint, asked again and again: each message names a folder and checks, each answer its findings.
import { CHECKS } from '../../../scripts/lint/checks.mjs';

process.on('message', async ({ root, checks }) => {
  try {
    const findings = await Promise.all(checks.split(',').map((name) => CHECKS[name](root, {})));
    process.send({ findings: findings.flat() });
  } catch (error) {
    process.send({ failed: error.stack });
  }
});
