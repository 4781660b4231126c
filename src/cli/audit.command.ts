import { Command } from 'commander';
import { auditVerifyCommand } from './audit-verify.command.js';
import { rotateSigningKeyCommand } from './rotate-signing-key.command.js';

/** Commands over the audit log. */
export function auditCommand(): Command {
  const audit = new Command('audit').description('Looks after the audit log.');
  audit.addCommand(auditVerifyCommand());
  audit.addCommand(rotateSigningKeyCommand());
  return audit;
}
